// Command weft runs AI agents whose context comes from sandboxed WebAssembly plugins.
//
//	weft run weft.yaml                  talk to an agent in the terminal
//	weft run -m "What is a weft?"       one question, one answer
//	weft run --model openai:NAME        the same agent with another model
//	weft inspect clock.wasm             what a plugin is, and what it asks for
//	weft inspect clock.wasm weft.yaml   what an entry of a config gives it, beside that
//	weft plugins weft.yaml              the plugins of a config, loaded
//	weft scenario FILE…                 play recorded conversations
//	weft version
//
// The exit code is 0 where all went well, 1 where something failed, and 2 for a command line that makes no sense. Errors
// go to standard error. With --json a program can read what is printed.
package main
