package pdktest

import (
	"bytes"
	"strings"
)

// archive is a file in the txtar format: a comment, and sections that begin with a line "-- NAME --".
type archive struct {
	comment  []byte
	sections []*section
}

type section struct {
	name string
	data []byte
}

func parse(data []byte) *archive {
	a := &archive{}
	for line := range bytes.Lines(data) {
		if name, ok := marker(line); ok {
			a.sections = append(a.sections, &section{name: name})
		} else if len(a.sections) == 0 {
			a.comment = append(a.comment, line...)
		} else {
			last := a.sections[len(a.sections)-1]
			last.data = append(last.data, line...)
		}
	}
	return a
}

func marker(line []byte) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimRight(string(line), "\r\n"), "-- ")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, " --")
	return strings.TrimSpace(name), ok
}

func (a *archive) format() []byte {
	var b bytes.Buffer
	b.Write(a.comment)
	for _, s := range a.sections {
		b.WriteString("-- " + s.name + " --\n")
		b.Write(s.data)
		if len(s.data) > 0 && s.data[len(s.data)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
