//! context is a provider like many: it says something of the question, and counts in its state.

mod weft;

use weft::json::{Json, put_int};

#[derive(Default)]
struct Counters {
    runs: i64,
    words: i64,
    answered: i64,
}

impl Counters {
    fn read(json: &mut Json) -> Self {
        let mut c = Counters::default();
        json.object(|name, json| match name {
            "runs" => c.runs = json.int(),
            "words" => c.words = json.int(),
            "answered" => c.answered = json.int(),
            _ => json.skip(),
        });
        c
    }

    fn write(&self, out: &mut String) {
        out.push_str("\"state\":{\"runs\":");
        put_int(out, self.runs);
        out.push_str(",\"words\":");
        put_int(out, self.words);
        out.push_str(",\"answered\":");
        put_int(out, self.answered);
        out.push_str("}}");
    }
}

#[unsafe(no_mangle)]
extern "C" fn before_run() -> i32 {
    weft::hook(|json, out| {
        let (mut counters, mut words) = (Counters::default(), 0);
        json.object(|name, json| match name {
            "state" => counters = Counters::read(json),
            "input" => words = weft::words(json),
            _ => json.skip(),
        });
        counters.runs += 1;
        counters.words += words;
        out.push_str("{\"extend_messages\":[{\"role\":\"user\",\"text\":\"The question has ");
        put_int(out, words);
        out.push_str(" words.\"}],");
        counters.write(out);
    })
}

#[unsafe(no_mangle)]
extern "C" fn after_run() -> i32 {
    weft::hook(|json, out| {
        let (mut counters, mut words) = (Counters::default(), 0);
        json.object(|name, json| match name {
            "state" => counters = Counters::read(json),
            "response" => json.object(|name, json| match name {
                "messages" => words = weft::words(json),
                _ => json.skip(),
            }),
            _ => json.skip(),
        });
        counters.answered += words;
        out.push('{');
        counters.write(out);
    })
}
