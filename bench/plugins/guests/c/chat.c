// chat is middleware around a model call: it looks how many messages there are, and lets the rest run once.
#include "weft.h"

#include <stdlib.h>

__attribute__((import_module("extism:host/user"), import_name("call_next"))) uint64_t call_next(uint64_t input);

static int64_t count(json *in) {
  int64_t messages = 0;
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (!json_is(name, "request")) {
      json_skip(in);
      continue;
    }
    for (json_level r = json_object(in); json_member(in, &r, &name);) {
      if (json_is(name, "count")) messages = json_int(in);
      else json_skip(in);
    }
  }
  return messages;
}

static void around(json *in, json_out *out) {
  if (count(in) == 0) {
    json_put(out, "{\"error\":{\"code\":\"invalid_input\",\"message\":\"there is no message to answer\"}}");
    return;
  }
  size_t length;
  char *reply = weft_reply(call_next(extism_store("{}", 2)), &length);
  json next = json_read(reply, reply ? length : 0);
  bool failed = false;
  json_text name;
  for (json_level o = json_object(&next); json_member(&next, &o, &name); json_skip(&next)) failed = failed || json_is(name, "error");
  if (failed || !json_end(&next)) json_put(out, "{\"error\":{\"code\":\"failed\",\"message\":\"the rest failed\"}}");
  else json_put(out, "{}");
  free(reply);
}

EXPORT("process") int32_t process(void) { return weft_hook(around); }
