package compaction_test

import (
	"context"
	"iter"
	"sync"

	"github.com/weft-run/weft/host"
)

// script is a model that answers with what a function says, and remembers its requests.
type script struct {
	answer func(n int, r *host.ChatRequest) (*host.Response, error) // n counts from 1

	mu       sync.Mutex
	requests []*host.ChatRequest
}

func (s *script) Complete(_ context.Context, r *host.ChatRequest) (*host.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	n := len(s.requests)
	s.mu.Unlock()
	return s.answer(n, r)
}

func (s *script) Stream(ctx context.Context, r *host.ChatRequest) iter.Seq2[*host.Update, error] {
	return func(yield func(*host.Update, error) bool) {
		response, err := s.Complete(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range response.Messages {
			if !yield(&host.Update{Role: m.Role, Contents: m.Contents}, nil) {
				return
			}
		}
	}
}

// sent are the messages of each request, as words.
func (s *script) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.requests {
		out = append(out, words(r.Messages))
	}
	return out
}

func (s *script) asked() int { return len(s.sent()) }
