// last_ten is a provider that fetches the last ten messages of the history, and says how long they are.
#include "weft.h"

#include <stdlib.h>

__attribute__((import_module("extism:host/user"), import_name("get_messages"))) uint64_t get_messages(uint64_t input);

static const char wanted[] = "{\"ranges\":[{\"part\":\"context\",\"source_id\":\"in_memory\",\"start\":-10,\"count\":10}]}";

static void read_reply(json *in, int64_t *messages, int64_t *bytes) {
  json_text name;
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (!json_is(name, "ranges")) {
      json_skip(in);
      continue;
    }
    for (json_level a = json_array(in); json_element(in, &a);) {
      for (json_level r = json_object(in); json_member(in, &r, &name);) {
        if (json_is(name, "messages")) weft_texts(in, messages, bytes);
        else json_skip(in);
      }
    }
  }
}

static void fetch(json *in, json_out *out) {
  json_skip(in);
  size_t length;
  char *reply = weft_reply(get_messages(extism_store(wanted, sizeof wanted - 1)), &length);
  json ranges = json_read(reply, reply ? length : 0);
  int64_t messages = 0, bytes = 0;
  read_reply(&ranges, &messages, &bytes);
  bool read = json_end(&ranges);
  free(reply);
  if (!read) {
    json_put(out, "{\"error\":{\"code\":\"failed\",\"message\":\"the messages are not the JSON that they should be\"}}");
    return;
  }
  json_put(out, "{\"extend_messages\":[{\"role\":\"user\",\"text\":\"The last ");
  json_put_int(out, messages);
  json_put(out, " messages have ");
  json_put_int(out, bytes);
  json_put(out, " bytes.\"}]}");
}

EXPORT("before_run") int32_t before_run(void) { return weft_hook(fetch); }
