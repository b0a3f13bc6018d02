package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/engine"
)

func TestCallPutsOutWhatItIsGiven(t *testing.T) {
	m := load(t, "echoes", engine.Spec{})
	for _, input := range []string{"", "x", "12345678", "hello, world", strings.Repeat("weft ", 10_000)} {
		for _, export := range []string{"echo", "copy"} {
			result := call(t, m, export, input)
			require.Equal(t, input, string(result.Output))
			require.Zero(t, result.Code)
			require.Equal(t, len(input), result.Usage.Input)
			require.Equal(t, len(input), result.Usage.Output)
		}
	}
}

func TestCallReturnsTheCodeOfTheFunction(t *testing.T) {
	m := load(t, "echoes", engine.Spec{})
	require.EqualValues(t, 7, call(t, m, "seven", "").Code)
}

func TestOutputBelongsToTheCaller(t *testing.T) {
	m := load(t, "echoes", engine.Spec{})
	first := call(t, m, "echo", "first")
	call(t, m, "echo", "other")
	require.Equal(t, "first", string(first.Output))
}

func TestUsageSaysWhetherTheInstanceIsNew(t *testing.T) {
	m := load(t, "echoes", engine.Spec{})
	require.Equal(t, "reused", call(t, m, "echo", "").Usage.Instance, "Load made one")
	require.GreaterOrEqual(t, call(t, m, "echo", "x").Usage.Memory, int64(engine.PageSize))

	traps := load(t, "traps", engine.Spec{})
	callFails(t, traps, engine.Call{Export: "unreachable"})
	require.Equal(t, "new", call(t, traps, "fine", "").Usage.Instance)
}

func TestErrorOfTheGuest(t *testing.T) {
	m := load(t, "sets-error", engine.Spec{})
	result := call(t, m, "before_run", "no such \x1b[31mcity\xff")
	require.EqualValues(t, 4, result.Code)
	require.Equal(t, "no such \\x1b[31mcity\uFFFD", result.Error, "freed at once, and still read; made printable")
	require.Len(t, call(t, m, "before_run", strings.Repeat("x", 10_000)).Error, 4096)

	result = call(t, m, "takes_it_back", "nothing")
	require.Empty(t, result.Error)
	require.Zero(t, result.Code)
}

func TestNoSuchExport(t *testing.T) {
	m := load(t, "echoes", engine.Spec{})
	err := callFails(t, m, engine.Call{Export: "after_run"})
	require.ErrorIs(t, err, engine.ErrNoExport)
	require.EqualError(t, err, "echoes: no export after_run: export a function of that name, () -> i32")
	err = callFails(t, m, engine.Call{Export: "takes_a_number"})
	require.ErrorIs(t, err, engine.ErrNoExport)
	require.EqualError(t, err, "echoes: export takes_a_number is func (i32) -> i32, and must be func () -> i32")
	err = callFails(t, m, engine.Call{Export: "memory"})
	require.EqualError(t, err, "echoes: export memory is memory, and must be func () -> i32")
}

func TestLoopEndsAtItsDeadline(t *testing.T) {
	for _, fixture := range []string{"loops-forever", "loops-in-host-calls", "sleeps-an-hour", "recurses-twice-each-time"} {
		t.Run(fixture, func(t *testing.T) {
			m := load(t, fixture, engine.Spec{})
			began := time.Now()
			err := callFails(t, m, engine.Call{Export: "before_run", Timeout: 50 * time.Millisecond})
			require.Less(t, time.Since(began), 5*time.Second)
			require.ErrorIs(t, err, engine.ErrTimeout)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			var limit *engine.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, engine.LimitError{
				Name: fixture, Export: "before_run", Limit: "time", Value: "50ms", Option: "Call.Timeout",
			}, *limit)
			require.Equal(t, 1, m.Stats().Discarded)
			require.Zero(t, m.Stats().Live)
		})
	}
}

func TestTimeoutNamesTheOptionOfItsCaller(t *testing.T) {
	m := load(t, "loops-forever", engine.Spec{})
	err := callFails(t, m, engine.Call{Export: "before_run", Timeout: time.Millisecond, TimeoutOption: "limits.call_tool"})
	require.EqualError(t, err, "loops-forever: before_run ran longer than its 1ms: "+
		"raise limits.call_tool, or look for a loop that does not end")
}

func TestEndOfTheCallersContextIsNoTimeout(t *testing.T) {
	m := load(t, "loops-forever", engine.Spec{})

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := m.Call(ctx, engine.Call{Export: "before_run"})
	require.Equal(t, context.DeadlineExceeded, err)

	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = m.Call(ctx, engine.Call{Export: "before_run", Timeout: engine.Unlimited})
	require.Equal(t, context.Canceled, err)

	_, err = m.Call(ctx, engine.Call{Export: "before_run"})
	require.Equal(t, context.Canceled, err, "over before it began")
}

func TestTraps(t *testing.T) {
	m := load(t, "traps", engine.Spec{})
	for export, reason := range map[string]string{
		"unreachable":   "unreachable",
		"divides":       "integer divide by zero",
		"reads_outside": "out of bounds memory access",
	} {
		err := callFails(t, m, engine.Call{Export: export})
		require.ErrorIs(t, err, engine.ErrTrap)
		require.EqualError(t, err, "traps: "+export+" trapped: "+reason)
		var trap *engine.TrapError
		require.ErrorAs(t, err, &trap)
		require.NotEmpty(t, trap.Stack)
		require.NotContains(t, trap.Stack, ".go:", "no stack of the host")
		require.Zero(t, call(t, m, "fine", "").Code, "the next call is fine")
	}
}

func TestRecursionEndsAtTheLimitOfTheStack(t *testing.T) {
	m := load(t, "recurses-without-end", engine.Spec{})
	err := callFails(t, m, engine.Call{Export: "before_run", Timeout: time.Minute})
	require.ErrorIs(t, err, engine.ErrStackLimit)
	require.EqualError(t, err, "recurses-without-end: before_run nested its calls deeper than its stack of 4 MiB: "+
		"raise limits.stack, or look for a recursion that does not end")
	require.Zero(t, call(t, m, "fine", "").Code)
}

func TestExitIsAnError(t *testing.T) {
	for _, test := range []struct {
		fixture, export string
		code            uint32
	}{
		{"exits-zero", "before_run", 0},
		{"exits-three", "before_run", 3},
		{"exits-three", "like_a_deadline", 0xefffffff},
		{"exits-three", "like_a_cancellation", 0xffffffff},
	} {
		m := load(t, test.fixture, engine.Spec{})
		err := callFails(t, m, engine.Call{Export: test.export})
		require.ErrorIs(t, err, engine.ErrExit)
		require.NotErrorIs(t, err, engine.ErrTimeout)
		var exit *engine.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, test.code, exit.Code)
		require.Zero(t, m.Stats().Live)
	}
}

func TestMemoryEndsAtItsLimit(t *testing.T) {
	m := load(t, "grows-without-end", engine.Spec{Limits: engine.Limits{Memory: 4 << 20}})
	err := callFails(t, m, engine.Call{Export: "then_traps"})
	require.ErrorIs(t, err, engine.ErrMemoryLimit)
	require.NotErrorIs(t, err, engine.ErrTrap)
	require.EqualError(t, err, "grows-without-end: then_traps needed more than its 4 MiB of memory: "+
		"raise limits.memory, or make it hold less at once")

	result := call(t, m, "then_copes", "")
	require.EqualValues(t, 49, result.Code, "1 page, and 3 times 16")
	require.LessOrEqual(t, result.Usage.Memory, int64(4<<20))
}

func TestDeclaredMaximumIsNotReserved(t *testing.T) {
	m := load(t, "declares-a-huge-maximum", engine.Spec{})
	result := call(t, m, "before_run", "")
	require.EqualValues(t, 1, result.Code)
	require.Less(t, result.Usage.Memory, int64(1<<20))
}

func TestArenaCountsAsMemory(t *testing.T) {
	m := load(t, "misuses-the-arena", engine.Spec{Limits: engine.Limits{Memory: 2 << 20}})
	for _, export := range []string{"allocates_without_end", "allocates_bytes_without_end"} {
		result := call(t, m, export, "")
		require.EqualValues(t, 5, result.Code, "the guest is told by an offset of 0, and copes")
		require.LessOrEqual(t, result.Usage.Memory, int64(2<<20))
	}
	require.Zero(t, call(t, m, "allocates_everything", "").Code)
	require.Zero(t, call(t, m, "allocates_and_frees", "").Code, "what is freed is used again")

	err := callFails(t, m, engine.Call{Export: "load_u8", Input: make([]byte, 3<<20)})
	require.ErrorIs(t, err, engine.ErrMemoryLimit, "an input for which there is no room")
}

func TestInputLimit(t *testing.T) {
	m := load(t, "echoes", engine.Spec{Limits: engine.Limits{Input: 4096}})
	call(t, m, "echo", strings.Repeat("x", 4096))
	err := callFails(t, m, engine.Call{Export: "echo", Input: make([]byte, 5000)})
	require.ErrorIs(t, err, engine.ErrInputTooLarge)
	require.EqualError(t, err, "echoes: echo was given 4.9 KiB, and may be given 4 KiB: raise limits.input, or send less")
}

func TestOutputLimit(t *testing.T) {
	m := load(t, "output-too-large", engine.Spec{})
	for export, seen := range map[string]string{
		"gibibyte": "1 GiB", "everything": "more than can be counted", "allocated": "293.0 KiB",
	} {
		err := callFails(t, m, engine.Call{Export: export})
		require.ErrorIs(t, err, engine.ErrOutputTooLarge)
		require.EqualError(t, err, "output-too-large: "+export+" put out "+seen+
			", and may put out 256 KiB: raise limits.output, or let it return less")
	}
	result, err := m.Call(t.Context(), engine.Call{Export: "allocated", Output: 300_000})
	require.NoError(t, err)
	require.Len(t, result.Output, 300_000)
	_, err = m.Call(t.Context(), engine.Call{Export: "allocated", Output: engine.Unlimited})
	require.NoError(t, err)
}

func TestOutputOutsideTheArenaIsATrap(t *testing.T) {
	m := load(t, "output-outside-memory", engine.Spec{})
	for _, export := range []string{"beyond", "far", "at_zero", "wraps"} {
		err := callFails(t, m, engine.Call{Export: export})
		require.ErrorIs(t, err, engine.ErrTrap)
		require.ErrorContains(t, err, "outside the memory shared with the host")
	}
}

func TestWhatAGuestPrintedComesWithItsError(t *testing.T) {
	m := load(t, "prints", engine.Spec{})
	result, err := m.Call(t.Context(), engine.Call{Export: "then_traps"})
	require.ErrorIs(t, err, engine.ErrTrap)
	require.Equal(t, `panic: no \x1b[31msuch\x1b[0m thing`+"\n", result.Printed)
	require.Empty(t, result.Output)
	require.Less(t, len(call(t, m, "thousand", "").Printed), 8192)
}

func TestClosedModule(t *testing.T) {
	m := load(t, "echoes", engine.Spec{})
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, m.Close(t.Context()), "again")
	err := callFails(t, m, engine.Call{Export: "echo"})
	require.ErrorIs(t, err, engine.ErrClosed)
	require.EqualError(t, err, "echoes: closed")
	require.Zero(t, m.Stats().Live)
}

func TestCloseWaitsForCallsInFlight(t *testing.T) {
	m := load(t, "floods-log", engine.Spec{})
	inside, leave := make(chan struct{}), make(chan struct{})
	called, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), engine.Call{
			Export: "input", Input: []byte("x"), Timeout: time.Minute,
			Log: func(string, string) { close(inside); <-leave },
		})
		called <- err
	}()
	<-inside
	go func() { closed <- m.Close(context.Background()) }()
	require.Eventually(t, func() bool {
		_, err := m.Call(t.Context(), engine.Call{Export: "level"})
		return errors.Is(err, engine.ErrClosed)
	}, 5*time.Second, time.Millisecond)
	require.Empty(t, closed)
	close(leave)
	require.NoError(t, <-called)
	require.NoError(t, <-closed)
}

func TestCloseEndsCallsWhenItsContextIsOver(t *testing.T) {
	m := load(t, "loops-forever", engine.Spec{})
	called := make(chan error, 1)
	go func() {
		_, err := m.Call(context.Background(), engine.Call{Export: "before_run", Timeout: engine.Unlimited})
		called <- err
	}()
	require.Eventually(t, func() bool { return m.Stats().Idle == 0 }, 5*time.Second, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for {
		// The call may not have entered the guest yet when it is told to end.
		require.Equal(t, context.DeadlineExceeded, m.Close(ctx))
		select {
		case err := <-called:
			require.ErrorIs(t, err, engine.ErrClosed)
			require.NoError(t, m.Close(t.Context()))
			return
		case <-time.After(time.Millisecond):
		}
	}
}
