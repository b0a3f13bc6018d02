package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// checkedWriter remembers the first error, so that a full disk does not pass for success.
type checkedWriter struct {
	w   io.Writer
	err error
}

// Write writes unless an earlier write failed.
func (c *checkedWriter) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}

// isTerminal reports whether a reader or writer is one that a person sits at.
func isTerminal(stream any) bool {
	if c, ok := stream.(*checkedWriter); ok {
		stream = c.w
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printJSON prints a value as JSON in one line.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// printable is text of strangers on one line: escape sequences, characters that turn the direction of writing and
// others that do not print are shown as they would be written in Go.
func printable(text string) string { return escape(text, "") }

// printableLines is printable, but leaves line ends and tabs.
func printableLines(text string) string { return escape(text, "\n\t") }

func escape(text, keep string) string {
	fine := func(r rune) bool { return strings.ContainsRune(keep, r) || r != utf8.RuneError && unicode.IsPrint(r) }
	var b strings.Builder
	for _, r := range text {
		if fine(r) || r == utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// shortened is the beginning of a text that may be long.
func shortened(text string) string {
	const most = 200
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// size is a number of bytes for people.
func size(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.bytes {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.bytes)), ".0") + u.name
		}
	}
	return fmt.Sprintf("%dB", n)
}

// duration is a time for people, in three digits.
func duration(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// plural counts things.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
