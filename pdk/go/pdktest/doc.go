// Package pdktest runs a plugin's hooks in ordinary tests, without WebAssembly and without a host: the functions that the
// plugin exports are called as they are, against a stand-in for the host's memory and log.
//
//	func TestGreeting(t *testing.T) {
//		out := pdktest.Call(t, beforeRun, `{"hook": "before_run", "input": [{"role": "user", "text": "hi"}]}`)
//		if out != `{"extend_instructions":["Greet the user."]}` {
//			t.Error(out)
//		}
//	}
//
// [Cases] does the same for files with the inputs and outputs of whole conversations, which a test of the built module can
// replay. What differs from a real host: nothing is metered, nothing is restored between calls, files are the machine's.
package pdktest
