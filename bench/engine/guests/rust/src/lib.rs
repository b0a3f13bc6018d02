//! words is the guest that all languages have: before_run counts the words of a run's input, noop does nothing, and echo
//! gives back what it gets.

use extism_pdk::*;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Run {
    config: Config,
    run: Ids,
    state: State,
    input: Vec<Message>,
    metadata: Trace,
}

#[derive(Deserialize)]
struct Config {
    language: String,
    long: i64,
}

#[derive(Deserialize)]
struct Ids {
    session_id: String,
}

#[derive(Deserialize, Serialize)]
struct State {
    runs: i64,
    words: i64,
}

#[derive(Deserialize)]
struct Message {
    contents: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    r#type: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Trace {
    trace_id: String,
}

#[derive(Serialize)]
struct Effects {
    extend_messages: Vec<Added>,
    extend_instructions: Vec<&'static str>,
    state: State,
    metadata: Metadata,
}

#[derive(Serialize)]
struct Added {
    role: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Metadata {
    language: String,
    session_id: String,
    trace_id: String,
    words: i64,
}

#[plugin_fn]
pub fn before_run(Json(run): Json<Run>) -> FnResult<Json<Effects>> {
    let contents = run.input.iter().flat_map(|m| &m.contents);
    let words: i64 = contents.filter(|c| c.r#type == "text").map(|c| count_words(&c.text)).sum();
    let state = State { runs: run.state.runs + 1, words: run.state.words + words };
    let mut instructions = vec!["Answer what was asked, one thing after the other, in the language of the question."];
    if words > run.config.long {
        instructions.push("Keep the answer shorter than the question.");
    }
    Ok(Json(Effects {
        extend_messages: vec![Added {
            role: "user",
            text: format!("This message has {} words, and the conversation has {} so far.", words, state.words),
        }],
        extend_instructions: instructions,
        state,
        metadata: Metadata {
            language: run.config.language,
            session_id: run.run.session_id,
            trace_id: run.metadata.trace_id,
            words,
        },
    }))
}

#[plugin_fn]
pub fn echo(input: Vec<u8>) -> FnResult<Vec<u8>> {
    Ok(input)
}

#[unsafe(no_mangle)]
pub extern "C" fn noop() -> i32 {
    0
}

/// Counts what stands between white space.
fn count_words(text: &str) -> i64 {
    text.split_ascii_whitespace().count() as i64
}
