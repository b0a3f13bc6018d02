// waits is a provider that asks the server at config.url, and adds what it says.
#include "weft.h"

#include <stdlib.h>

IMPORT("http_request") uint64_t extism_http_request(uint64_t request, uint64_t body);
IMPORT("http_status_code") int32_t extism_http_status_code(void);

static json_text read_url(json *in) {
  json_text name, url = {0};
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (!json_is(name, "config")) {
      json_skip(in);
      continue;
    }
    for (json_level c = json_object(in); json_member(in, &c, &name);) {
      if (json_is(name, "url")) url = json_string(in);
      else json_skip(in);
    }
  }
  return url;
}

static void ask(json *in, json_out *out) {
  char buf[1024];
  json_out request = {.buf = buf, .room = sizeof buf};
  json_put(&request, "{\"method\":\"GET\",\"url\":");
  json_put_text(&request, read_url(in));
  json_put(&request, "}");
  size_t length = 0;
  char *answer = request.full ? NULL : weft_reply(extism_http_request(extism_store(buf, request.length), 0), &length);
  if (!answer || extism_http_status_code() != 200) {
    json_put(out, "{\"error\":{\"code\":\"unavailable\",\"message\":\"the server gave no answer\"}}");
  } else {
    json_put(out, "{\"extend_messages\":[{\"role\":\"user\",\"text\":");
    json_put_text(out, (json_text){answer, length});
    json_put(out, "}]}");
  }
  free(answer);
}

EXPORT("before_run") int32_t before_run(void) { return weft_hook(ask); }
