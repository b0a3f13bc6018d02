// words is the guest that all languages have: before_run counts the words of a run's input, noop does nothing, and echo
// gives back what it gets.
#include <stdlib.h>

#include "extism.h"
#include "json.h"

typedef struct {
  json_text language, session_id, trace_id;
  int64_t longest, runs, words_before, words;
} run;

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

static void read_content(json *in, run *r) {
  json_text name, type = {0}, text = {0};
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "type")) type = json_string(in);
    else if (json_is(name, "text")) text = json_string(in);
    else json_skip(in);
  }
  if (json_is(type, "text")) r->words += count_words(text);
}

static void read_message(json *in, run *r) {
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (!json_is(name, "contents")) {
      json_skip(in);
      continue;
    }
    for (json_level a = json_array(in); json_element(in, &a);) read_content(in, r);
  }
}

static void read_config(json *in, run *r) {
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "language")) r->language = json_string(in);
    else if (json_is(name, "long")) r->longest = json_int(in);
    else json_skip(in);
  }
}

static void read_state(json *in, run *r) {
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "runs")) r->runs = json_int(in);
    else if (json_is(name, "words")) r->words_before = json_int(in);
    else json_skip(in);
  }
}

// read_one reads the member of that name of an object, and passes over the others.
static void read_one(json *in, const char *wanted, json_text *value) {
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, wanted)) *value = json_string(in);
    else json_skip(in);
  }
}

static void read_run(json *in, run *r) {
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "config")) read_config(in, r);
    else if (json_is(name, "run")) read_one(in, "session_id", &r->session_id);
    else if (json_is(name, "state")) read_state(in, r);
    else if (json_is(name, "metadata")) read_one(in, "trace_id", &r->trace_id);
    else if (json_is(name, "input"))
      for (json_level a = json_array(in); json_element(in, &a);) read_message(in, r);
    else json_skip(in);
  }
}

static void write_effects(json_out *out, const run *r) {
  int64_t words = r->words_before + r->words;
  json_put(out, "{\"extend_messages\":[{\"role\":\"user\",\"text\":\"This message has ");
  json_put_int(out, r->words);
  json_put(out, " words, and the conversation has ");
  json_put_int(out, words);
  json_put(out, " so far.\"}],\"extend_instructions\":"
                "[\"Answer what was asked, one thing after the other, in the language of the question.\"");
  if (r->words > r->longest) json_put(out, ",\"Keep the answer shorter than the question.\"");
  json_put(out, "],\"state\":{\"runs\":");
  json_put_int(out, r->runs + 1);
  json_put(out, ",\"words\":");
  json_put_int(out, words);
  json_put(out, "},\"metadata\":{\"language\":");
  json_put_text(out, r->language);
  json_put(out, ",\"session_id\":");
  json_put_text(out, r->session_id);
  json_put(out, ",\"trace_id\":");
  json_put_text(out, r->trace_id);
  json_put(out, ",\"words\":");
  json_put_int(out, r->words);
  json_put(out, "}}");
}

static int32_t answer(char *input, size_t length) {
  json in = json_read(input, length);
  run r = {0};
  read_run(&in, &r);
  if (!json_end(&in)) return extism_fail("the input is not the JSON that it should be");
  char buf[4096];
  json_out out = {.buf = buf, .room = sizeof buf};
  write_effects(&out, &r);
  if (out.full) return extism_fail("the answer is too long");
  extism_output_set(extism_store(out.buf, out.length), out.length);
  return 0;
}

EXPORT("before_run") int32_t before_run(void) {
  size_t length;
  char *input = extism_input(&length);
  if (!input) return extism_fail("no memory for the input");
  int32_t code = answer(input, length);
  free(input);
  return code;
}

EXPORT("noop") int32_t noop(void) { return 0; }

EXPORT("echo") int32_t echo(void) {
  size_t length;
  char *input = extism_input(&length);
  if (!input) return extism_fail("no memory for the input");
  extism_output_set(extism_store(input, length), length);
  free(input);
  return 0;
}
