//! waits is a provider that asks the server at config.url, and adds what it says.

mod weft;

use weft::json::put_text;

#[link(wasm_import_module = "extism:host/env")]
unsafe extern "C" {
    safe fn http_request(request: u64, body: u64) -> u64;
    safe fn http_status_code() -> i32;
}

#[unsafe(no_mangle)]
extern "C" fn before_run() -> i32 {
    weft::hook(|json, out| {
        let mut url = Default::default();
        json.object(|name, json| match name {
            "config" => json.object(|name, json| match name {
                "url" => url = json.string(),
                _ => json.skip(),
            }),
            _ => json.skip(),
        });
        let mut request = String::from("{\"method\":\"GET\",\"url\":");
        put_text(&mut request, &url);
        request.push('}');
        let answer = weft::reply(http_request(weft::store(&request), 0));
        if http_status_code() != 200 {
            out.push_str(r#"{"error":{"code":"unavailable","message":"the server gave no answer"}}"#);
            return;
        }
        out.push_str("{\"extend_messages\":[{\"role\":\"user\",\"text\":");
        put_text(out, &answer);
        out.push_str("}]}");
    })
}
