package conformance_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// summary are lines that stand once more behind all output of the tests, for whoever looks for them there.
var summary struct {
	sync.Mutex
	lines []string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := closeGuest(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	for _, line := range summary.lines {
		fmt.Println(line)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// summarise logs a line and keeps it for the end.
func summarise(t *testing.T, line string) {
	t.Helper()
	t.Log(line)
	summary.Lock()
	defer summary.Unlock()
	summary.lines = append(summary.lines, line)
}
