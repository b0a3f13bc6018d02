// index is a guest with something dear to prepare: init fills 50 MB, and look_up finds a value in them.
#include <stdlib.h>
#include <string.h>

#include "extism.h"

enum { ENTRIES = 50 * 1000 * 1000 / 16 };

static struct entry {
  uint64_t key, value;
} *entries;

// scatter spreads numbers over 64 bits, one to one.
static uint64_t scatter(uint64_t n) {
  n = (n ^ n >> 31) * 0x7fb5d329728ea185;
  n = (n ^ n >> 27) * 0x81dadef4bc2dd44d;
  return n ^ n >> 33;
}

EXPORT("init") int32_t init(void) {
  entries = malloc(ENTRIES * sizeof *entries);
  if (!entries) return extism_fail("no memory for the index");
  for (uint64_t n = 0; n < ENTRIES; n++) entries[n] = (struct entry){.key = n * 3, .value = scatter(n * 3)};
  return 0;
}

// look_up reads a key, eight bytes, and puts out its value. It tells the log before, so that whoever listens there can
// hold the call.
EXPORT("look_up") int32_t look_up(void) {
  static const char line[] = "looking";
  extism_log_info(extism_store(line, sizeof line - 1));
  uint64_t key = extism_input_load_u64(0);
  size_t low = 0, high = ENTRIES;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (entries[middle].key < key) low = middle + 1;
    else high = middle;
  }
  if (low == ENTRIES || entries[low].key != key) return extism_fail("no such key");
  char value[8];
  memcpy(value, &entries[low].value, sizeof value);
  extism_output_set(extism_store(value, sizeof value), sizeof value);
  return 0;
}
