//! tools is a provider that adds a tool and answers its calls.

mod weft;

use weft::json::{put_int, put_text};

#[unsafe(no_mangle)]
extern "C" fn before_run() -> i32 {
    weft::hook(|json, out| {
        json.skip();
        out.push_str(concat!(
            r#"{"extend_tools":[{"name":"look_up","description":"Looks up the value of a key.","#,
            r#""parameters":{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}}]}"#,
        ));
    })
}

#[unsafe(no_mangle)]
extern "C" fn call_tool() -> i32 {
    weft::hook(|json, out| {
        let mut key = Default::default();
        json.object(|name, json| match name {
            "call" => json.object(|name, json| match name {
                "arguments" => json.object(|name, json| match name {
                    "key" => key = json.string(),
                    _ => json.skip(),
                }),
                _ => json.skip(),
            }),
            _ => json.skip(),
        });
        out.push_str("{\"result\":{\"key\":");
        put_text(out, &key);
        out.push_str(",\"length\":");
        put_int(out, key.len() as i64);
        out.push_str("}}");
    })
}
