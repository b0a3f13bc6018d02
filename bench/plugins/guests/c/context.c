// context is a provider like many: it says something of the question, and counts in its state.
#include "weft.h"

typedef struct {
  int64_t runs, words, answered;
} counters;

static counters read_state(json *in) {
  counters c = {0};
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "runs")) c.runs = json_int(in);
    else if (json_is(name, "words")) c.words = json_int(in);
    else if (json_is(name, "answered")) c.answered = json_int(in);
    else json_skip(in);
  }
  return c;
}

static void write_state(json_out *out, counters c) {
  json_put(out, "\"state\":{\"runs\":");
  json_put_int(out, c.runs);
  json_put(out, ",\"words\":");
  json_put_int(out, c.words);
  json_put(out, ",\"answered\":");
  json_put_int(out, c.answered);
  json_put(out, "}}");
}

static void question(json *in, json_out *out) {
  counters c = {0};
  int64_t words = 0;
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "state")) c = read_state(in);
    else if (json_is(name, "input")) words = weft_words(in);
    else json_skip(in);
  }
  c.runs++;
  c.words += words;
  json_put(out, "{\"extend_messages\":[{\"role\":\"user\",\"text\":\"The question has ");
  json_put_int(out, words);
  json_put(out, " words.\"}],");
  write_state(out, c);
}

static void answer(json *in, json_out *out) {
  counters c = {0};
  int64_t words = 0;
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, "state")) {
      c = read_state(in);
    } else if (json_is(name, "response")) {
      for (json_level r = json_object(in); json_member(in, &r, &name);) {
        if (json_is(name, "messages")) words = weft_words(in);
        else json_skip(in);
      }
    } else {
      json_skip(in);
    }
  }
  c.answered += words;
  json_put(out, "{");
  write_state(out, c);
}

EXPORT("before_run") int32_t before_run(void) { return weft_hook(question); }
EXPORT("after_run") int32_t after_run(void) { return weft_hook(answer); }
