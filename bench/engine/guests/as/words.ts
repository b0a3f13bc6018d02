// words is the guest that all languages have: before_run counts the words of a run's input, noop does nothing, and echo
// gives back what it gets.
import { Host } from "@extism/as-pdk";
import { JSON } from "json-as";

@json
class Config {
  language: string = "";
  long: i64 = 0;
}

@json
class Ids {
  session_id: string = "";
}

@json
class State {
  runs: i64 = 0;
  words: i64 = 0;
}

@json
class Content {
  type: string = "";
  text: string = "";
}

@json
class Message {
  contents: Content[] = [];
}

@json
class Trace {
  trace_id: string = "";
}

@json
class Run {
  config: Config = new Config();
  run: Ids = new Ids();
  state: State = new State();
  input: Message[] = [];
  metadata: Trace = new Trace();
}

@json
class Added {
  role: string = "user";
  text: string = "";
}

@json
class Metadata {
  language: string = "";
  session_id: string = "";
  trace_id: string = "";
  words: i64 = 0;
}

@json
class Effects {
  extend_messages: Added[] = [];
  extend_instructions: string[] = [];
  state: State = new State();
  metadata: Metadata = new Metadata();
}

export function before_run(): i32 {
  const run = JSON.parse<Run>(Host.inputString());
  let words: i64 = 0;
  for (let i = 0; i < run.input.length; i++) {
    const contents = run.input[i].contents;
    for (let j = 0; j < contents.length; j++) {
      if (contents[j].type == "text") words += countWords(contents[j].text);
    }
  }
  const effects = new Effects();
  effects.state.runs = run.state.runs + 1;
  effects.state.words = run.state.words + words;
  const added = new Added();
  added.text = `This message has ${words} words, and the conversation has ${effects.state.words} so far.`;
  effects.extend_messages.push(added);
  effects.extend_instructions.push("Answer what was asked, one thing after the other, in the language of the question.");
  if (words > run.config.long) effects.extend_instructions.push("Keep the answer shorter than the question.");
  effects.metadata.language = run.config.language;
  effects.metadata.session_id = run.run.session_id;
  effects.metadata.trace_id = run.metadata.trace_id;
  effects.metadata.words = words;
  Host.outputString(JSON.stringify(effects));
  return 0;
}

export function noop(): i32 {
  return 0;
}

export function echo(): i32 {
  Host.output(Host.input());
  return 0;
}

// countWords counts what stands between white space. It walks over the units of UTF-16 themselves: charCodeAt looks at the
// length of the text at each of them.
function countWords(text: string): i64 {
  let words: i64 = 0;
  let inside = false;
  const from = changetype<usize>(text);
  const to = from + (<usize>text.length << 1);
  for (let at = from; at < to; at += 2) {
    const c = load<u16>(at);
    const space = c == 32 || (c >= 9 && c <= 13);
    if (!space && !inside) words++;
    inside = !space;
  }
  return words;
}

// onAbort is what the compiler calls where the guest cannot go on.
function onAbort(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}
