package host_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// TestTheOrderOfIndependentProvidersCannotBeToldFromTheResult runs random lists of providers both ways and compares all that
// can be seen of them.
func TestTheOrderOfIndependentProvidersCannotBeToldFromTheResult(t *testing.T) {
	for seed := range uint64(400) {
		sequential, concurrent := play(t, seed, true), play(t, seed, false)
		require.Equal(t, sequential, concurrent, "seed %d", seed)
	}
}

// play makes two runs of one session with the providers that a seed says, and returns what can be seen of them.
func play(t *testing.T, seed uint64, sequential bool) []string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	var seen []string
	note := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	var providers []host.Provider
	for i := range 1 + random.IntN(7) {
		providers = append(providers, randomProvider(random, fmt.Sprint("p", i), note))
	}
	if random.IntN(2) == 0 {
		providers = slices.Insert(providers, random.IntN(len(providers)+1), host.Provider(host.NewInMemoryHistory(host.HistoryConfig{})))
	}
	model := &echo{}
	log, _ := logger()
	agent := newAgent(t, host.AgentConfig{
		Client: model, Providers: providers, SequentialBeforeRun: sequential, Logger: log,
		Tracer: host.TraceFunc(func(_ context.Context, h host.HookTrace) {
			var hook *host.HookError
			if errors.As(h.Err, &hook) && h.Hook == "before_run" && strings.HasPrefix(hook.Err.Error(), "the run failed before the provider's turn") {
				return // started, and not applied
			}
			if h.Hook != "run" && h.Hook != "model" {
				note("trace %s %s %d %d %d %v %v", h.SourceID, h.Hook, h.Messages, h.Instructions, h.Tools, h.Skipped, h.Err)
			}
		}),
	})
	session := host.NewSession("s")
	for turn := range 2 {
		r, err := agent.Run(t.Context(), host.Text(fmt.Sprint("turn ", turn)), host.RunConfig{Session: session})
		note("error %v", err)
		if r != nil {
			note("response %s", r.Text())
		}
	}
	for _, r := range model.requests {
		raw, err := message.AppendList(nil, r.Messages)
		require.NoError(t, err)
		note("request %s %s", r.Instructions, raw)
		for _, offered := range r.Tools {
			note("tool %s of %s", offered.Definition().Name, offered.SourceID)
		}
	}
	note("session %s", saved(t, session))
	return seen
}

func randomProvider(random *rand.Rand, id string, note func(string, ...any)) host.Provider {
	fails, offers, policy := random.IntN(6) == 0, random.IntN(2) == 0, host.OnErrorFail
	if random.IntN(2) == 0 {
		policy = host.OnErrorSkip
	}
	effects := func(sc *host.SessionContext) error {
		note("before %s", id)
		sc.ExtendMessages(message.User(id))
		sc.ExtendInstructions("as " + id)
		if offers {
			sc.ExtendTools(saying("tool_" + id))
		}
		if err := sc.SetMetadata(id, 1); err != nil {
			return err
		}
		err := sc.State().Update("turns", func(old jsontext.Value) (any, error) { return string(old) + "x", nil })
		if fails {
			err = errors.New(id + " is broken")
		}
		return err
	}
	switch random.IntN(8) {
	case 0:
		return &recorder{id: id, log: new([]string), policy: policy, before: func(sc *host.SessionContext) error {
			metadata, err := sc.MetadataJSON()
			note("%s reads %d messages and %s", id, len(sc.Messages(host.Filter{})), metadata)
			return errors.Join(err, effects(sc))
		}}
	case 1:
		tries := 1 + random.IntN(2)
		return host.WrapFunc(id, func(ctx context.Context, sc *host.SessionContext, next host.Next) error {
			note("wrap %s", id)
			sc.ExtendMessages(message.User(id))
			var err error
			for range tries {
				if err = next(ctx); err == nil {
					break
				}
			}
			return err
		})
	}
	early := random.IntN(8) // what its own work does
	return &alone{
		id: id, policy: policy, apply: effects, told: func(hook, id string) { note("%s %s", hook, id) },
		start: func(_ context.Context, sc *host.SessionContext) error {
			switch early {
			case 0:
				return errors.New(id + " failed early")
			case 1:
				panic(id + " panics")
			case 2, 3, 4: // the bucket is there from its place in the order on, and not before
				_, err := sc.State().Get("turns", new(string))
				return err
			}
			return nil
		},
	}
}
