package middleware

import (
	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/message"
)

// hooks look at what one stream of updates holds, message by message.
func (p *pii) hooks() host.StreamHooks {
	if p.config.Output == PIIPass {
		return host.StreamHooks{}
	}
	s := &piiStream{config: p.config, contents: contentScanner{detectors: p.config.Detectors}}
	return host.StreamHooks{Update: s.update, End: s.end}
}

// piiStream is what is known of one stream. What follows a held text waits behind it, so that nothing changes places.
type piiStream struct {
	config   PIIConfig
	contents contentScanner
	begun    bool
	role     message.Role
	id       string
	author   string
	waiting  []*host.Update // without contents
}

type emit = func(*host.Update) error

func (s *piiStream) update(u *host.Update, emit emit) error {
	if len(u.Contents) == 0 {
		if s.contents.holds() {
			s.waiting = append(s.waiting, u)
			return nil
		}
		return emit(u)
	}
	role := orDefault(u.Role, message.RoleAssistant)
	if s.begun && (role != s.role || u.MessageID != "" && s.id != "" && u.MessageID != s.id) {
		if err := s.end(emit); err != nil {
			return err
		}
	}
	if !s.begun {
		s.begun, s.role, s.id, s.author = true, role, "", u.AuthorName
	}
	s.id = orDefault(s.id, u.MessageID)

	hits := s.contents.hits
	contents := s.contents.feed(u.Contents)
	if err := s.blocked(); err != nil {
		return err
	}
	if s.contents.hits == hits && !s.contents.holds() && same(contents, u.Contents) {
		return s.release(u, emit)
	}
	passed := *u
	passed.Contents = contents
	if s.contents.holds() && u.FinishReason != "" {
		passed.FinishReason = "" // it would say that the message is over, which it is not yet
		s.waiting = append(s.waiting, &host.Update{Role: u.Role, FinishReason: u.FinishReason})
	}
	if len(contents) == 0 && passed.ResponseID == "" && passed.ConversationID == "" && passed.Model == "" &&
		passed.FinishReason == "" && passed.Usage == nil {
		return nil
	}
	return s.release(&passed, emit)
}

// release hands on an update, and those that waited where nothing is held any more.
func (s *piiStream) release(u *host.Update, emit emit) error {
	if err := emit(u); err != nil || s.contents.holds() {
		return err
	}
	return s.releaseWaiting(emit)
}

func (s *piiStream) releaseWaiting(emit emit) error {
	for _, w := range s.waiting {
		if err := emit(w); err != nil {
			return err
		}
	}
	s.waiting = nil
	return nil
}

// end ends the message under way.
func (s *piiStream) end(emit emit) error {
	tail := s.contents.flush()
	if err := s.blocked(); err != nil {
		return err
	}
	if len(tail) > 0 {
		u := &host.Update{Role: s.role, Contents: tail, MessageID: s.id, AuthorName: s.author}
		if err := emit(u); err != nil {
			return err
		}
	}
	s.begun = false
	return s.releaseWaiting(emit)
}

func (s *piiStream) blocked() error {
	if s.config.Output != PIIBlock || len(s.contents.found) == 0 {
		return nil
	}
	return &PIIError{Where: inOutput, Labels: s.contents.found}
}

// same reports whether a scanner let through exactly what it got.
func same(out, in []message.Content) bool {
	if len(out) != len(in) {
		return false
	}
	for i := range in {
		if out[i].Kind() != in[i].Kind() || textOf(out[i]) != textOf(in[i]) {
			return false
		}
	}
	return true
}
