#include "weft.h"

#include <stdlib.h>
#include <string.h>

IMPORT("length") uint64_t extism_length(uint64_t offset);
IMPORT("load_u8") uint32_t extism_load_u8(uint64_t offset);
IMPORT("load_u64") uint64_t extism_load_u64(uint64_t offset);
IMPORT("free") void extism_free(uint64_t offset);

int32_t weft_hook(void (*work)(json *in, json_out *out)) {
  size_t length;
  char *input = extism_input(&length);
  if (!input) return extism_fail("no memory for the input");
  json in = json_read(input, length);
  char buf[4096];
  json_out out = {.buf = buf, .room = sizeof buf};
  work(&in, &out);
  bool read = json_end(&in);
  free(input);
  if (!read) return extism_fail("the input is not the JSON that it should be");
  if (out.full) return extism_fail("the output is too long");
  extism_output_set(extism_store(out.buf, out.length), out.length);
  return 0;
}

char *weft_reply(uint64_t offset, size_t *length) {
  if (!offset) return NULL;
  size_t n = extism_length(offset);
  *length = n;
  char *text = malloc(n + 1); // never of no bytes: NULL stands for a failure
  if (!text) return NULL;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word = extism_load_u64(offset + i);
    memcpy(text + i, &word, 8);
  }
  for (; i < n; i++) text[i] = (char)extism_load_u8(offset + i);
  extism_free(offset);
  return text;
}

// count_words counts what stands between white space.
static int64_t count_words(json_text text) {
  int64_t words = 0;
  bool inside = false;
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i];
    bool space = c == ' ' || (c >= '\t' && c <= '\r');
    words += !space && !inside;
    inside = !space;
  }
  return words;
}

// read_text reads a content; it has no text where it is of another kind.
static json_text read_text(json *in) {
  json_text name, type = {0}, text = {0};
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "type")) type = json_string(in);
    else if (json_is(name, "text")) text = json_string(in);
    else json_skip(in);
  }
  return json_is(type, "text") ? text : (json_text){0};
}

int64_t weft_words(json *in) {
  int64_t words = 0;
  json_text name;
  for (json_level list = json_array(in); json_element(in, &list);) {
    for (json_level o = json_object(in); json_member(in, &o, &name);) {
      if (!json_is(name, "contents")) {
        json_skip(in);
        continue;
      }
      for (json_level a = json_array(in); json_element(in, &a);) words += count_words(read_text(in));
    }
  }
  return words;
}

void weft_texts(json *in, int64_t *messages, int64_t *bytes) {
  json_text name;
  for (json_level list = json_array(in); json_element(in, &list);) {
    (*messages)++;
    for (json_level o = json_object(in); json_member(in, &o, &name);) {
      if (!json_is(name, "contents")) {
        json_skip(in);
        continue;
      }
      for (json_level a = json_array(in); json_element(in, &a);) *bytes += (int64_t)read_text(in).length;
    }
  }
}
