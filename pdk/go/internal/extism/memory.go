package extism

import "unsafe"

// Level is how much a log line matters, with Extism's numbers.
type Level int32

// The levels of log lines.
const (
	LevelDebug Level = 1
	LevelInfo  Level = 2
	LevelWarn  Level = 3
	LevelError Level = 4
)

// Input returns what the host handed to the call. Each call gets memory of its own that nobody writes to afterwards, so
// parts of the string may be kept for as long as one likes.
func Input() string {
	length := int(inputLength())
	if length == 0 {
		return ""
	}
	words := make([]uint64, (length+7)/8)
	whole := length / 8
	load(words[:whole])
	text := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), length)
	for i := whole * 8; i < length; i++ {
		text[i] = byte(inputLoadU8(uint64(i)))
	}
	return unsafe.String(&text[0], length)
}

// load reads words from the beginning of the input, several with each turn of the loop: a jump costs more than a call of
// the host's function.
func load(words []uint64) {
	at := uint64(0)
	for len(words) >= 4 {
		words[0] = inputLoadU64(at)
		words[1] = inputLoadU64(at + 8)
		words[2] = inputLoadU64(at + 16)
		words[3] = inputLoadU64(at + 24)
		words, at = words[4:], at+32
	}
	for i := range words {
		words[i] = inputLoadU64(at)
		at += 8
	}
}

// take returns what is in a block of the host's memory, and frees it.
func take(offset uint64) string {
	if offset == 0 {
		return ""
	}
	size := int(length(offset))
	if size == 0 {
		free(offset)
		return ""
	}
	words := make([]uint64, (size+7)/8)
	whole := size / 8
	for i := range words[:whole] {
		words[i] = loadU64(offset + uint64(i)*8)
	}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	for i := whole * 8; i < size; i++ {
		text[i] = byte(loadU8(offset + uint64(i)))
	}
	free(offset)
	return unsafe.String(&text[0], size)
}

// SetOutput hands text to the host as the call's result.
func SetOutput(text []byte) {
	outputSet(store(text), uint64(len(text)))
}

// SetError hands text to the host as the reason for which the call failed.
func SetError(text string) {
	errorSet(store(bytesOf(text)))
}

// Log hands a line to the host's log, unless the host does not want lines of this level.
func Log(level Level, text string) {
	if text == "" || Level(getLogLevel()) > level {
		return
	}
	offset := store(bytesOf(text))
	switch level {
	case LevelDebug:
		logDebug(offset)
	case LevelInfo:
		logInfo(offset)
	case LevelWarn:
		logWarn(offset)
	case LevelError:
		logError(offset)
	}
	free(offset)
}

// store copies text into new memory of the host, eight bytes with each call. The host frees it when the next call begins.
func store(text []byte) (offset uint64) {
	if len(text) == 0 {
		return 0
	}
	offset = alloc(uint64(len(text)))
	if offset == 0 {
		panic("the host has no memory left for what the plugin returns")
	}
	i := 0
	for ; i+8 <= len(text); i += 8 {
		storeU64(offset+uint64(i), *(*uint64)(unsafe.Pointer(&text[i])))
	}
	for ; i < len(text); i++ {
		storeU8(offset+uint64(i), uint32(text[i]))
	}
	return offset
}

func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
