// versions puts its version on all that it says, and fails where a run has met another one.
#include "weft.h"

// version is patched in the built module. It can be seen from elsewhere, so that no code is made of what stands here.
char version[] = "version-00000000";

static void add(json *in, json_out *out) {
  json_skip(in);
  json_put(out, "{\"extend_messages\":[{\"role\":\"user\",\"text\":\"");
  json_put(out, version);
  json_put(out, "\"}],\"extend_tools\":[{\"name\":\"look_up\"}],\"state\":{\"version\":\"");
  json_put(out, version);
  json_put(out, "\"}}");
}

// same says whether before_run of this run was of this version.
static bool same(json *in) {
  json_text name, seen = {0};
  for (json_level o = json_object(in); json_member(in, &o, &name);) {
    if (!json_is(name, "state")) {
      json_skip(in);
      continue;
    }
    for (json_level s = json_object(in); json_member(in, &s, &name);) {
      if (json_is(name, "version")) seen = json_string(in);
      else json_skip(in);
    }
  }
  return json_is(seen, version);
}

static void mixed(json_out *out) {
  json_put(out, "{\"error\":{\"code\":\"conflict\",\"message\":\"before_run was of another version\"}}");
}

static void call(json *in, json_out *out) {
  if (!same(in)) {
    mixed(out);
    return;
  }
  json_put(out, "{\"result\":\"");
  json_put(out, version);
  json_put(out, "\"}");
}

static void after(json *in, json_out *out) {
  if (same(in)) json_put(out, "{}");
  else mixed(out);
}

EXPORT("before_run") int32_t before_run(void) { return weft_hook(add); }
EXPORT("call_tool") int32_t call_tool(void) { return weft_hook(call); }
EXPORT("after_run") int32_t after_run(void) { return weft_hook(after); }
