package middleware

import (
	"slices"

	"github.com/weft-run/weft/host"
)

// asItStood returns a function that puts the request back as it is now, for a call that is made once more: what
// middleware further in added to it, it will add again.
func asItStood(c *host.ChatContext) (restore func()) {
	request := *c.Request
	messages, tools, options := slices.Clone(request.Messages), slices.Clone(request.Tools), request.Options.Clone()
	return func() {
		again := request
		again.Messages, again.Tools, again.Options = slices.Clone(messages), slices.Clone(tools), options.Clone()
		c.Request, c.Result = &again, nil
	}
}

// watchShown registers a hook for the next call of next and returns whether any update of it left.
func watchShown(c *host.ChatContext) *bool {
	shown := new(bool)
	c.OnStream(host.StreamHooks{Update: func(u *host.Update, emit func(*host.Update) error) error {
		*shown = true
		return emit(u)
	}})
	return shown
}
