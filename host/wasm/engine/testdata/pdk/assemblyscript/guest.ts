// A plugin written with Extism's PDK for AssemblyScript, as its authors would write one. The PDK has no functions for
// errors and HTTP; what it imports for them is used as it is.

import { Config, Host, LogLevel, Memory, Var } from '@extism/as-pdk';
import { error_set, http_request, length } from '@extism/as-pdk/lib/env';

function aborts(
  message: string | null,
  fileName: string | null,
  lineNumber: u32,
  columnNumber: u32
): void {
  Host.log(LogLevel.Error, message === null ? 'aborted' : message);
  unreachable();
}

// Puts out its input.
export function echo(): i32 {
  Host.output(Host.input());
  return 0;
}

// Puts out its input in upper case.
export function shout(): i32 {
  const text = Host.inputString().toUpperCase();
  Host.output(Uint8Array.wrap(String.UTF8.encode(text)));
  return 0;
}

// Greets whom it is given, in the words of its config.
export function greet(): i32 {
  const greeting = Config.get('greeting');
  Host.outputString((greeting === null ? 'hello' : greeting) + ', ' + Host.inputString());
  return 0;
}

// Counts in a var how often it was called.
export function count(): i32 {
  const before = Var.getString('calls');
  const calls = before === null ? 0 : I32.parseInt(before);
  Var.set('calls', Uint8Array.wrap(String.UTF8.encode((calls + 1).toString())));
  const after = Var.getString('calls');
  Host.outputString(after === null ? '' : after);
  return 0;
}

// Sets a var and removes it.
export function forget(): i32 {
  Var.set('secret', Uint8Array.wrap(String.UTF8.encode('a secret')));
  Var.remove('secret');
  const left = Var.getString('secret');
  Host.outputString(left === null ? 'forgotten' : left);
  return 0;
}

// Logs its input at every level that the PDK has.
export function logs(): i32 {
  const text = Host.inputString();
  Host.log(LogLevel.Debug, text);
  Host.log(LogLevel.Info, text);
  Host.log(LogLevel.Warn, text);
  Host.log(LogLevel.Error, text);
  return 0;
}

// Fails, and says why.
export function fails(): i32 {
  error_set(Memory.allocateString('cannot do ' + Host.inputString()).offset);
  return 3;
}

// Puts out what a page says.
export function fetch(): i32 {
  const request = Memory.allocateString('{"method":"GET","url":"' + Host.inputString() + '"}');
  const body = http_request(request.offset, 0);
  Host.outputMemory(new Memory(body, length(body)));
  return 0;
}

// Stops with an error that nobody catches.
export function panics(): i32 {
  throw new Error('no such thing');
}
