package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host"
)

// slowModel begins an answer, tells so, and then waits for the end of the run.
type slowModel struct{ begun chan struct{} }

func (m slowModel) Complete(ctx context.Context, _ *host.ChatRequest) (*host.Response, error) {
	m.begun <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (m slowModel) Stream(ctx context.Context, _ *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		if !yield(host.TextUpdate("Well \x1b[2J"), nil) {
			return
		}
		_, err := m.Complete(ctx, nil)
		yield(nil, err)
	}
}

// screen is a buffer that two goroutines may use.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// slowTalk is a conversation with a slow model.
func slowTalk(t *testing.T, in io.Reader, flags runFlags) (*talk, *screen, chan struct{}) {
	t.Helper()
	m := slowModel{begun: make(chan struct{})}
	agent, err := host.NewAgent(host.AgentConfig{Name: "slow", Client: m})
	require.NoError(t, err)
	out := &screen{}
	return &talk{
		streams: streams{in: in, out: out, err: out}, flags: flags, agent: agent, session: host.NewSession(""),
	}, out, m.begun
}

func TestInterrupts(t *testing.T) {
	defer goleak.VerifyNone(t)
	in, typed := io.Pipe()
	talk, out, begun := slowTalk(t, in, runFlags{})
	interrupts, ended := make(chan os.Signal), make(chan error)
	go func() { ended <- talk.goOn(t.Context(), out, interrupts) }()

	_, err := io.WriteString(typed, "hi\n")
	require.NoError(t, err)
	<-begun
	interrupts <- os.Interrupt // cancels the answer
	require.Eventually(t, func() bool { return strings.HasSuffix(out.String(), "> ") && strings.Count(out.String(), "> ") == 2 },
		5*time.Second, time.Millisecond)
	assert.Equal(t, "> Well \\x1b[2J\nweft: the answer was interrupted; it is not part of the conversation\n> ", out.String())

	interrupts <- os.Interrupt // ends the conversation
	require.NoError(t, <-ended)
	require.NoError(t, typed.Close())
}

func TestTermination(t *testing.T) {
	in, typed := io.Pipe()
	talk, out, begun := slowTalk(t, in, runFlags{})
	ctx, terminate := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- talk.goOn(ctx, out, make(chan os.Signal)) }()
	_, err := io.WriteString(typed, "hi\n")
	require.NoError(t, err)
	<-begun
	terminate()
	require.EqualError(t, <-ended, "interrupted")
	require.NoError(t, typed.Close())
}

func TestLinesAreInterrupted(t *testing.T) {
	defer goleak.VerifyNone(t)
	talk, out, begun := slowTalk(t, strings.NewReader("one\ntwo\n"), runFlags{json: true})
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- talk.answerLines(ctx) }()
	<-begun
	interrupt()
	require.Error(t, <-ended)
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), "the second line is not answered: %s", out)
	assert.Contains(t, out.String(), `"error":{"message":"model: context canceled"}`)
}

func TestLongLine(t *testing.T) {
	talk, _, _ := slowTalk(t, strings.NewReader(strings.Repeat("x", longestLine+1)), runFlags{})
	require.ErrorContains(t, talk.answerLines(t.Context()), "a line is longer than 4MiB")
}

// failingWriter is a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFullDisk(t *testing.T) {
	var told bytes.Buffer
	code := execute([]string{"version"}, streams{in: strings.NewReader(""), out: failingWriter{}, err: &told})
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, "weft: standard output: no space left\n", told.String())
}

func TestPanicIsReported(t *testing.T) {
	var told bytes.Buffer
	code := execute([]string{"version"}, streams{in: strings.NewReader(""), out: panicWriter{}, err: &told})
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, told.String(), "weft: internal error: broken pipe dream\nThis is a bug in weft")
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("broken pipe dream") }

func TestReplaceFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chat.json")
	require.NoError(t, os.Mkdir(path, 0o700)) // a rename onto a folder fails
	require.Error(t, replaceFile(path, []byte("{}")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestDurationsAndSizes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 415_690: "416µs", 12_345_678: "12.3ms", 2 * time.Second: "2s", 61_234 * time.Millisecond: "1m1.2s",
	} {
		assert.Equal(t, want, duration(d))
	}
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1KiB", 1536: "1.5KiB", 64 << 20: "64MiB", 3 << 30: "3GiB"} {
		assert.Equal(t, want, size(n))
	}
}
