package extism

// Line is a line that was logged.
type Line struct {
	Level Level
	Text  string
}

// Kept is what one call left with the stand-in for a host.
type Kept struct {
	Output []byte
	Error  string
	Lines  []Line
}

// Host stands in for the functions of a host in tests.
type Host interface {
	// Function answers a call of a function of extism:host/user. Both texts are JSON objects.
	Function(name, input string) (output string)
	// HTTP answers an HTTP request. Request and headers are JSON objects.
	HTTP(request, body string) (status int, headers, answer string)
}
