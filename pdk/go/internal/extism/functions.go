package extism

// The functions of the host: each takes a JSON object and returns another. A plugin imports those that it calls, and no
// others: what it does not reach, the linker leaves out.

// CallNext runs the rest of the chain.
func CallNext(input []byte) string { return exchange(callNext, input) }

// GetMessages fetches messages.
func GetMessages(input []byte) string { return exchange(getMessages, input) }

// KVGet reads a stored value.
func KVGet(input []byte) string { return exchange(kvGet, input) }

// KVSet stores a value.
func KVSet(input []byte) string { return exchange(kvSet, input) }

// KVDelete removes a stored value.
func KVDelete(input []byte) string { return exchange(kvDelete, input) }

// KVList lists stored keys.
func KVList(input []byte) string { return exchange(kvList, input) }

// Complete asks the host's model.
func Complete(input []byte) string { return exchange(complete, input) }

// Embed asks the host's model for vectors.
func Embed(input []byte) string { return exchange(embed, input) }

// Search searches an index.
func Search(input []byte) string { return exchange(search, input) }

// IndexPut puts documents into an index.
func IndexPut(input []byte) string { return exchange(indexPut, input) }

// IndexDelete removes documents from an index.
func IndexDelete(input []byte) string { return exchange(indexDelete, input) }

// Emit tells the caller of the run something.
func Emit(input []byte) string { return exchange(emit, input) }

// Request asks the caller of the run something.
func Request(input []byte) string { return exchange(request, input) }

// HTTP sends a request, whose method, URL and headers are a JSON object. The headers that come back are one too. A body
// that is nil is none.
func HTTP(request, body []byte) (status int, headers, answer string) {
	about, content := store(request), store(body)
	answer = take(httpRequest(about, content))
	free(about)
	if content != 0 {
		free(content)
	}
	return int(httpStatusCode()), take(httpHeaders()), answer
}

// exchange hands input to a function of the host and takes what it returns. None of both stays in the host's memory.
func exchange(function func(uint64) uint64, input []byte) string {
	given := store(input)
	output := function(given)
	free(given)
	return take(output)
}
