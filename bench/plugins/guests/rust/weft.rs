//! What the guests of this folder have in common: the hook around each one's work, and what they call the host for.
#![allow(dead_code)] // No guest uses all of it.

#[path = "json.rs"]
pub mod json;

use json::Json;

mod env {
    #[link(wasm_import_module = "extism:host/env")]
    unsafe extern "C" {
        pub safe fn alloc(length: u64) -> u64;
        pub safe fn free(offset: u64);
        pub safe fn length(offset: u64) -> u64;
        pub safe fn load_u8(offset: u64) -> u32;
        pub safe fn load_u64(offset: u64) -> u64;
        pub safe fn store_u8(offset: u64, value: u32);
        pub safe fn store_u64(offset: u64, value: u64);
        pub safe fn input_length() -> u64;
        pub safe fn input_load_u8(offset: u64) -> u32;
        pub safe fn input_load_u64(offset: u64) -> u64;
        pub safe fn output_set(offset: u64, length: u64);
        pub safe fn error_set(offset: u64);
    }
}

/// Reads the input of a hook, lets work read it and write the output, and returns what the hook is to return.
pub fn hook(work: impl FnOnce(&mut Json, &mut String)) -> i32 {
    let input = load(env::input_length(), |at| env::input_load_u64(at), |at| env::input_load_u8(at));
    let Ok(input) = String::from_utf8(input) else {
        return fail("the input is not UTF-8");
    };
    let mut json = Json::new(&input);
    let mut out = String::with_capacity(512);
    work(&mut json, &mut out);
    if !json.end() {
        return fail("the input is not the JSON that it should be");
    }
    env::output_set(store(&out), out.len() as u64);
    0
}

fn fail(text: &str) -> i32 {
    env::error_set(store(text));
    1
}

/// Copies text into the host's memory, and returns where it lies.
pub fn store(text: &str) -> u64 {
    let offset = env::alloc(text.len() as u64);
    let mut at = offset;
    let (words, tail) = text.as_bytes().as_chunks();
    for word in words {
        env::store_u64(at, u64::from_le_bytes(*word));
        at += 8;
    }
    for &byte in tail {
        env::store_u8(at, byte.into());
        at += 1;
    }
    offset
}

/// Copies a block of the host's memory, and frees it. It is empty where there is none, or no text.
pub fn reply(offset: u64) -> String {
    if offset == 0 {
        return String::new();
    }
    let data = load(env::length(offset), |at| env::load_u64(offset + at), |at| env::load_u8(offset + at));
    env::free(offset);
    String::from_utf8(data).unwrap_or_default()
}

fn load(length: u64, eight: impl Fn(u64) -> u64, one: impl Fn(u64) -> u32) -> Vec<u8> {
    let mut data = Vec::with_capacity(length as usize);
    let words = length & !7;
    for at in (0..words).step_by(8) {
        data.extend_from_slice(&eight(at).to_le_bytes());
    }
    for at in words..length {
        data.push(one(at) as u8);
    }
    data
}

/// Reads an array of messages: how many there are, and each text in them.
pub fn messages(json: &mut Json, mut text: impl FnMut(&str)) -> i64 {
    let mut count = 0;
    json.array(|json| {
        count += 1;
        json.object(|name, json| match name {
            "contents" => json.array(|json| content(json, &mut text)),
            _ => json.skip(),
        })
    });
    count
}

fn content(json: &mut Json, text: &mut impl FnMut(&str)) {
    let (mut kind, mut said) = Default::default();
    json.object(|name, json| match name {
        "type" => kind = json.string(),
        "text" => said = json.string(),
        _ => json.skip(),
    });
    if kind == "text" {
        text(&said);
    }
}

/// Counts the words in the texts of an array of messages.
pub fn words(json: &mut Json) -> i64 {
    let mut words = 0;
    messages(json, |text| words += text.split_ascii_whitespace().count() as i64);
    words
}
