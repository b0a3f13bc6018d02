package host

// StreamHooks are what somebody does with the updates of a stream on their way to the consumer. Each may be nil. All are
// called on the consumer's goroutine, and none where the run is not streamed.
//
// Middleware registers them before it calls next ([AgentContext.OnStream], [ChatContext.OnStream]), the consumer before it
// reads ([Stream.OnStream]). Updates pass the hooks of the innermost first.
type StreamHooks struct {
	// Update gets each update and hands on what is to leave: the update itself, another, several or none. An error of
	// emit is to be returned; any error ends the run.
	Update func(u *Update, emit func(*Update) error) error
	// End is called after the last update, unless the stream failed or was left: what Update held back leaves here.
	End func(emit func(*Update) error) error
	// Response gets the final response, which is built from the updates that left, and returns what stands in its place.
	Response func(r *Response) (*Response, error)
	// Close is called once, at last, whatever became of the stream.
	Close func(err error)
}

// hookedStream runs core with the hooks between it and the emitter out. set puts the response in place that the hooks
// made of result, which core came to.
func hookedStream(out **emitter, hooks []StreamHooks, core func() error, result func() *Response, set func(*Response)) (err error) {
	if *out == nil || len(hooks) == 0 {
		return core()
	}
	outer := *out
	h := &emitter{root: outer.root, up: outer, hooks: hooks}
	*out = h
	defer func() {
		*out = outer
		for _, hook := range hooks {
			if hook.Close != nil {
				hook.Close(err)
			}
		}
	}()
	if err := core(); err != nil {
		return err
	}
	if r := result(); r != nil && h.shown == 0 {
		if err := h.showAll(r); err != nil {
			return err
		}
	}
	if err := h.end(); err != nil {
		return err
	}
	r := result()
	if r == nil {
		return nil
	}
	if h.changed {
		built := *r
		built.Messages = h.left.done().Messages
		r = &built
	}
	for _, hook := range hooks {
		if hook.Response != nil {
			if r, err = hook.Response(r); err != nil {
				return err
			}
		}
	}
	set(r)
	return nil
}

// through gives an update to the hook at position i and what it emits to those behind.
func (e *emitter) through(i int, u *Update) error {
	if i == len(e.hooks) {
		e.left.add(u)
		return e.up.show(u)
	}
	update := e.hooks[i].Update
	if update == nil {
		return e.through(i+1, u)
	}
	same := 0
	err := update(u, func(other *Update) error {
		if same++; other != u {
			e.changed = true
		}
		return e.through(i+1, other)
	})
	if same != 1 {
		e.changed = true
	}
	return err
}

// end lets out what hooks held back.
func (e *emitter) end() error {
	for i, hook := range e.hooks {
		if hook.End == nil {
			continue
		}
		err := hook.End(func(u *Update) error {
			e.changed = true
			return e.through(i+1, u)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
