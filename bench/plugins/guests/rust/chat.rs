//! chat is middleware around a model call: it looks how many messages there are, and lets the rest run once.

mod weft;

use weft::json::Json;

#[link(wasm_import_module = "extism:host/user")]
unsafe extern "C" {
    safe fn call_next(input: u64) -> u64;
}

#[unsafe(no_mangle)]
extern "C" fn process() -> i32 {
    weft::hook(|json, out| {
        let mut count = 0;
        json.object(|name, json| match name {
            "request" => json.object(|name, json| match name {
                "count" => count = json.int(),
                _ => json.skip(),
            }),
            _ => json.skip(),
        });
        if count == 0 {
            out.push_str(r#"{"error":{"code":"invalid_input","message":"there is no message to answer"}}"#);
            return;
        }
        let reply = weft::reply(call_next(weft::store("{}")));
        let (mut next, mut failed) = (Json::new(&reply), false);
        next.object(|name, json| {
            failed |= name == "error";
            json.skip();
        });
        out.push_str(match failed || !next.end() {
            true => r#"{"error":{"code":"failed","message":"the rest failed"}}"#,
            false => "{}",
        });
    })
}
