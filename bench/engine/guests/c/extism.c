#include "extism.h"

#include <stdlib.h>
#include <string.h>

char *extism_input(size_t *length) {
  size_t n = extism_input_length();
  *length = n;
  char *text = malloc(n + 1); // never of no bytes: NULL stands for a failure
  if (!text) return NULL;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word = extism_input_load_u64(i);
    memcpy(text + i, &word, 8);
  }
  for (; i < n; i++) text[i] = (char)extism_input_load_u8(i);
  return text;
}

uint64_t extism_store(const char *text, size_t length) {
  uint64_t offset = extism_alloc(length);
  size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    uint64_t word;
    memcpy(&word, text + i, 8);
    extism_store_u64(offset + i, word);
  }
  for (; i < length; i++) extism_store_u8(offset + i, (uint8_t)text[i]);
  return offset;
}

int32_t extism_fail(const char *text) {
  extism_error_set(extism_store(text, strlen(text)));
  return 1;
}
