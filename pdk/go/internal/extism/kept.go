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
