package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// defaultAnswerTime is how long [Request] waits for an answer.
const defaultAnswerTime = 5 * time.Minute

// Event is what a part of a run tells the caller while the run is under way. A streamed run yields it as
// [Update.Event]; any run gives it to [RunConfig.OnEvent], where that is set.
type Event struct {
	// ID is the event's own.
	ID    string
	RunID string
	// SourceID is the provider, or the source of the tool, that it comes from; empty for anybody else. The host sets it.
	SourceID string
	// Name says what it is about; Data is any JSON value.
	Name string
	Data jsontext.Value
	// AnswerBy is until when an answer is waited for; zero where none is.
	AnswerBy time.Time

	answer chan jsontext.Value
	once   sync.Once
}

// EventProviderSkipped is the name of the event that tells of a provider whose hook failed and was skipped, as its
// [ErrorPolicy] says. It comes from the host, with the provider's source id. Its data is an object with "hook", the
// contract's name of the hook, and "error", the text of the error, cut at 1 KiB.
const EventProviderSkipped = "provider_skipped"

// ErrEventName is returned where an event is to have a name that is the host's own: one that begins with "weft.", or
// [EventProviderSkipped].
var ErrEventName = errors.New("the name of the event is the host's own")

// ErrNoAnswerWanted is returned where an event is answered that is no request, or is answered again.
var ErrNoAnswerWanted = errors.New("nobody waits for an answer to this event")

// Answer answers a request with any JSON value. It may be called from any goroutine, at any time after the event was
// seen, once. An answer that comes too late is lost.
func (e *Event) Answer(value any) error {
	if e.answer == nil {
		return ErrNoAnswerWanted
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("answer to %q cannot be given as JSON: %w", e.Name, err)
	}
	err = ErrNoAnswerWanted
	e.once.Do(func() {
		e.answer <- raw
		err = nil
	})
	return err
}

// Emit tells the caller of the run that ctx belongs to of an event. It may be called by hooks, middleware and tools, on
// the goroutine on which they were called, or by a tool on any. Where nobody listens it does nothing. It fails where data
// cannot be represented as JSON, with [ErrEventName] for a name of the host's own, and with [ErrStopped] where the caller
// left the stream.
func Emit(ctx context.Context, name string, data any) error {
	sink, e, err := newEvent(ctx, name, data)
	if err != nil || sink == nil {
		return err
	}
	return sink.deliver(ctx, e)
}

// Request is [Emit] of an event that is to be answered, and waits for the answer: for the given time, five minutes for 0.
// answered is false where no answer came in time, or nobody listens; that is a "no". It fails as Emit does, and where ctx
// ends.
func Request(ctx context.Context, name string, data any, wait time.Duration) (answer jsontext.Value, answered bool, err error) {
	sink, e, err := newEvent(ctx, name, data)
	if err != nil || sink == nil {
		return nil, false, err
	}
	if wait <= 0 {
		wait = defaultAnswerTime
	}
	e.AnswerBy, e.answer = time.Now().Add(wait), make(chan jsontext.Value, 1) // before anybody sees it
	timer := time.NewTimer(wait)
	defer timer.Stop()
	if err := sink.deliver(ctx, e); err != nil {
		return nil, false, err
	}
	select {
	case answer := <-e.answer:
		return answer, true, nil
	case <-timer.C:
		return nil, false, nil
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

func newEvent(ctx context.Context, name string, data any) (*eventSink, *Event, error) {
	if name == EventProviderSkipped || strings.HasPrefix(name, reservedPrefix) {
		return nil, nil, fmt.Errorf("%w: %q: give it another", ErrEventName, name)
	}
	return makeEvent(ctx, name, data)
}

// makeEvent makes an event of any name, for the sink that the context has, if it has one.
func makeEvent(ctx context.Context, name string, data any) (*eventSink, *Event, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, nil, fmt.Errorf("event %q cannot be told as JSON: %w", name, err)
	}
	sink, _ := ctx.Value(eventKey{}).(*eventSink)
	if sink == nil {
		return nil, nil, nil
	}
	return sink, &Event{ID: uuid.NewString(), RunID: sink.runID, SourceID: sink.sourceID, Name: name, Data: raw}, nil
}

type eventKey struct{}

// eventSink is where the events of one part of a run go. It travels in the part's context.
type eventSink struct {
	runID    string
	sourceID string
	onEvent  func(ctx context.Context, e *Event)
	out      *emitter

	// Where several goroutines work for the run, their events go to the consumer's own through queue, until over.
	queue chan *Event
	over  chan struct{}
	end   *error // why it is over, once it is
}

// deliver gives the event to whoever listens.
func (s *eventSink) deliver(ctx context.Context, e *Event) error {
	if s.onEvent != nil {
		s.onEvent(ctx, e)
	}
	switch {
	case s.out == nil:
		return nil
	case s.queue == nil:
		return s.out.tell(e)
	}
	select {
	case s.queue <- e:
		return nil
	case <-s.over:
		return *s.end
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell gives an event to the consumer. Hooks on the stream do not see it.
func (e *emitter) tell(event *Event) error { return e.root.take(&Update{Event: event}) }

// withEvents is a context whose events reach the caller, if anybody listens.
func (e *execution) withEvents(ctx context.Context) context.Context {
	if e.out == nil && e.config.OnEvent == nil {
		return ctx
	}
	return context.WithValue(ctx, eventKey{}, &eventSink{runID: e.id, onEvent: e.config.OnEvent, out: e.out})
}

// eventsFrom is a context whose events carry a source.
func (r *run) eventsFrom(ctx context.Context, sourceID string) context.Context {
	if !r.tells {
		return ctx
	}
	sink, _ := ctx.Value(eventKey{}).(*eventSink)
	if sink == nil {
		return ctx
	}
	own := *sink
	own.sourceID, own.runID = sourceID, r.id
	return context.WithValue(ctx, eventKey{}, &own)
}

// EventsFrom is a context whose events carry a source, for middleware that works for a provider or a plugin. Nothing else of
// the run changes.
func EventsFrom(ctx context.Context, sourceID string) context.Context {
	sink, _ := ctx.Value(eventKey{}).(*eventSink)
	if sink == nil || sink.sourceID == sourceID {
		return ctx
	}
	own := *sink
	own.sourceID = sourceID
	return context.WithValue(ctx, eventKey{}, &own)
}

// longestEventError is how much of an error's text an event tells, in bytes.
const longestEventError = 1 << 10

// tellSkipped tells the caller that a provider's hook failed and the run goes on without it. The context's events carry
// the provider's source.
func (r *run) tellSkipped(ctx context.Context, hook string, failure error) error {
	if !r.tells {
		return nil
	}
	text := failure.Error()
	if len(text) > longestEventError {
		text = text[:longestEventError]
	}
	sink, e, err := makeEvent(ctx, EventProviderSkipped, struct {
		Hook  string `json:"hook"`
		Error string `json:"error"`
	}{hook, strings.ToValidUTF8(text, "")})
	if err != nil || sink == nil {
		return err
	}
	return guard(r.out, func() error { return sink.deliver(ctx, e) })
}

// withoutEvents is a context whose events go nowhere, for what runs beside the consumer's goroutine.
func withoutEvents(ctx context.Context) context.Context {
	if sink, _ := ctx.Value(eventKey{}).(*eventSink); sink == nil {
		return ctx
	}
	return context.WithValue(ctx, eventKey{}, (*eventSink)(nil))
}

// relay lets the events of tools that run on goroutines of their own reach the consumer on its own goroutine. work starts
// them with the context that it is given and returns a function that waits for them.
func (r *run) relay(ctx context.Context, work func(ctx context.Context) (wait func())) error {
	sink, _ := ctx.Value(eventKey{}).(*eventSink)
	if sink == nil || sink.out == nil || sink.queue != nil { // nobody reads a stream, or a relay stands between already
		work(ctx)()
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queued := *sink
	queued.queue, queued.over = make(chan *Event), make(chan struct{})
	end := sync.OnceFunc(func() { close(queued.over) })
	defer end()
	reason := errors.New("the tool call is over")
	queued.end = &reason
	wait := work(context.WithValue(ctx, eventKey{}, &queued))
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait()
	}()
	var err error
	events := queued.queue
	for {
		select {
		case e := <-events:
			if err = sink.out.tell(e); err != nil { // nobody listens any more, and the tools are still to finish
				reason = err
				end()
				cancel()
				events = nil
			}
		case <-done:
			return err
		}
	}
}
