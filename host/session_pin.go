package host

// PinSession returns a value that stays the same as long as the session is in memory: the first PinSession of a key makes it,
// all later ones get what that made. It is for what somebody knows of a session and can find out again, such as the sizes of
// what is in it: it is not saved with the session, which has nothing of it where it is restored.
//
// Keys are compared, so they must be comparable; values of different types never share a key. PinSession may be called by
// many goroutines; those that come while a value is made wait. acquire must not pin anything to the same session; where it panics,
// nothing is pinned.
func PinSession[T any](s *Session, key any, acquire func() T) T {
	s.pinning.Lock()
	defer s.pinning.Unlock()
	if have, ok := s.pins[pinKey[T]{key}]; ok {
		value, _ := have.(T) // nil where T is an interface and the value was nil
		return value
	}
	value := acquire()
	if s.pins == nil {
		s.pins = map[any]any{}
	}
	s.pins[pinKey[T]{key}] = value
	return value
}
