//! last_ten is a provider that fetches the last ten messages of the history, and says how long they are.

mod weft;

use weft::json::{Json, put_int};

#[link(wasm_import_module = "extism:host/user")]
unsafe extern "C" {
    safe fn get_messages(input: u64) -> u64;
}

const WANTED: &str = r#"{"ranges":[{"part":"context","source_id":"in_memory","start":-10,"count":10}]}"#;

#[unsafe(no_mangle)]
extern "C" fn before_run() -> i32 {
    weft::hook(|json, out| {
        json.skip();
        let reply = weft::reply(get_messages(weft::store(WANTED)));
        let (mut ranges, mut messages, mut bytes) = (Json::new(&reply), 0, 0);
        ranges.object(|name, json| match name {
            "ranges" => json.array(|json| {
                json.object(|name, json| match name {
                    "messages" => messages += weft::messages(json, |text| bytes += text.len() as i64),
                    _ => json.skip(),
                })
            }),
            _ => json.skip(),
        });
        if !ranges.end() {
            out.push_str(
                r#"{"error":{"code":"failed","message":"the messages are not the JSON that they should be"}}"#,
            );
            return;
        }
        out.push_str("{\"extend_messages\":[{\"role\":\"user\",\"text\":\"The last ");
        put_int(out, messages);
        out.push_str(" messages have ");
        put_int(out, bytes);
        out.push_str(" bytes.\"}]}");
    })
}
