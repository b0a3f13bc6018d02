package egress_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/wasm/egress"
)

// slowly is a client of a server that sends a beginning at once, and then one byte each second without end. Time is that of
// a bubble of synctest.
func slowly(t *testing.T, p egress.Policy, beginning, endless string) *egress.Client {
	t.Helper()
	p.Rules = rules("http://slow.test")
	p.Resolver = resolverFunc(func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(publicIP)} })
	p.Dial = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err != nil {
				return
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				_, _ = io.Copy(io.Discard, theirs)
			}()
			for text := beginning; ; text = endless {
				if _, err := io.WriteString(theirs, text); err != nil {
					return
				}
				select {
				case <-time.After(time.Second):
				case <-over:
					return
				}
			}
		}()
		return ours, nil
	}
	return client(t, p)
}

// timeIsUp asserts that a request ended by the policy's time, and when.
func timeIsUp(t *testing.T, err error, since time.Time, want time.Duration) {
	t.Helper()
	var limit *egress.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, egress.LimitError{Origin: "http://slow.test", Limit: "HTTP time", Value: want.String(), Option: "limits.http_time"}, *limit)
	require.EqualError(t, err, "no answer from http://slow.test within "+want.String()+": raise limits.http_time, or ask another server")
	require.Equal(t, want, time.Since(since))
}

func TestAServerThatNeverAnswersIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, start := slowly(t, egress.Policy{}, "", ""), time.Now()
		_, err := get(t, c, "http://slow.test/")
		timeIsUp(t, err, start, 10*time.Second)
	})
}

func TestSlowHeadersAreNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, start := slowly(t, egress.Policy{Time: 3 * time.Second}, "HTTP/1.1 200 OK\r\nX-Slow: ", "x"), time.Now()
		_, err := get(t, c, "http://slow.test/")
		timeIsUp(t, err, start, 3*time.Second)
	})
}

func TestASlowBodyIsNotWaitedFor(t *testing.T) {
	for name, headers := range map[string]string{"plain": "", "gzip": "Content-Encoding: gzip\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, start := slowly(t, egress.Policy{Time: 5 * time.Second}, "HTTP/1.1 200 OK\r\n"+headers+"\r\n\x1f\x8b", "\x08"), time.Now()
				_, err := get(t, c, "http://slow.test/")
				timeIsUp(t, err, start, 5*time.Second)
			})
		})
	}
}

func TestSlowRedirectsShareOneTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, start := slowly(t, egress.Policy{Time: 5 * time.Second}, "", "HTTP/1.1 302 Found\r\nLocation: /\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), time.Now()
		_, err := get(t, c, "http://slow.test/")
		timeIsUp(t, err, start, 5*time.Second)
	})
}

func TestTheContextOfARequestEndsIt(t *testing.T) {
	for name, beginning := range map[string]string{"headers": "HTTP/1.1 200 OK\r\nX: ", "body": "HTTP/1.1 200 OK\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, start := slowly(t, egress.Policy{Time: -1}, beginning, "x"), time.Now()
				why := errors.New("the call is over")
				ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, why)
				defer cancel()
				_, err := send(t, c, newRequest(t, http.MethodGet, "http://slow.test/", "").WithContext(ctx))
				require.ErrorIs(t, err, why)
				require.EqualError(t, err, "http://slow.test: the call is over")
				require.Equal(t, 2*time.Second, time.Since(start))
			})
		})
	}
}

// watched is a context that counts who waits for its end.
type watched struct {
	context.Context
	end     chan struct{}
	waiting atomic.Int64
}

func (w *watched) Done() <-chan struct{} { return w.end }

func (w *watched) AfterFunc(func()) (stop func() bool) {
	w.waiting.Add(1)
	return sync.OnceValue(func() bool {
		w.waiting.Add(-1)
		return true
	})
}

func TestNobodyWaitsForTheTimeOfAnAnswerThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []egress.Policy{{}, {Time: -1}} {
			c := slowly(t, p, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "")
			ctx := &watched{Context: t.Context(), end: make(chan struct{})}
			response, err := c.Do(newRequest(t, http.MethodGet, "http://slow.test/", "").WithContext(ctx))
			require.NoError(t, err)
			require.Positive(t, ctx.waiting.Load())
			require.NoError(t, response.Body.Close())
			synctest.Wait()
			require.Zero(t, ctx.waiting.Load())
		}
	})
}

// silent never connects, and waits as long as it may.
func silent(ctx context.Context, _, address string) (net.Conn, error) {
	<-ctx.Done()
	return nil, errors.New(address + " does not answer")
}

func TestAnAddressThatDoesNotAnswerLeavesTimeForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, dials := time.Now(), []string{}
		c := client(t, egress.Policy{
			Rules: rules("http://slow.test"), Time: -1,
			Resolver: resolverFunc(func(string) []netip.Addr {
				return []netip.Addr{netip.MustParseAddr(otherIP), netip.MustParseAddr(publicIP)}
			}),
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				dials = append(dials, time.Since(start).String()+" "+address)
				return silent(ctx, network, address)
			},
		})
		_, err := get(t, c, "http://slow.test/")
		require.EqualError(t, err, "http://slow.test: "+otherIP+":80 does not answer; "+publicIP+":80 does not answer")
		require.Equal(t, []string{"0s " + otherIP + ":80", "5s " + publicIP + ":80"}, dials)
		require.Equal(t, 10*time.Second, time.Since(start), "without any other time")
	})
}
