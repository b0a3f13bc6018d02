// tools is a provider that adds a tool and answers its calls.
#include "weft.h"

static void add(json *in, json_out *out) {
  json_skip(in);
  json_put(out, "{\"extend_tools\":[{\"name\":\"look_up\",\"description\":\"Looks up the value of a key.\","
                "\"parameters\":{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\"}},\"required\":[\"key\"]}}]}");
}

// read_one gives the member of that name of an object, and passes over the others.
static json_text read_one(json *in, const char *wanted) {
  json_text name, value = {0};
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (json_is(name, wanted)) value = json_string(in);
    else json_skip(in);
  }
  return value;
}

static void call(json *in, json_out *out) {
  json_text name, key = {0};
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (!json_is(name, "call")) {
      json_skip(in);
      continue;
    }
    for (json_level c = json_object(in); json_member(in, &c, &name);) {
      if (json_is(name, "arguments")) key = read_one(in, "key");
      else json_skip(in);
    }
  }
  json_put(out, "{\"result\":{\"key\":");
  json_put_text(out, key);
  json_put(out, ",\"length\":");
  json_put_int(out, (int64_t)key.length);
  json_put(out, "}}");
}

EXPORT("before_run") int32_t before_run(void) { return weft_hook(add); }
EXPORT("call_tool") int32_t call_tool(void) { return weft_hook(call); }
