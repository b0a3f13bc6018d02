package kv

import "fmt"

// Unlimited takes a limit away.
const Unlimited = -1

// MaxKey is how long a key is at most, in bytes. It is part of what a key is, and the same for all.
const MaxKey = 512

// Limits bound what one namespace holds. A field that is 0 stands for its default, a negative one for no limit. Entries
// that have expired do not count.
type Limits struct {
	// Value is the size of one value, in bytes: 64 KiB.
	Value int64
	// Total is the size of all keys and values together, in bytes: 1 MiB.
	Total int64
	// Keys is how many keys there may be: 10,000.
	Keys int64
}

// DefaultLimits returns the limits that apply where a field is 0.
func DefaultLimits() Limits { return Limits{Value: 64 << 10, Total: 1 << 20, Keys: 10_000} }

// LimitError says that a limit is in the way of a write. It is an ErrLimit.
type LimitError struct {
	// Limit is what is limited: value, total or keys.
	Limit string
	// Value is the limit and Seen what would have been there: bytes, or a number of keys.
	Value, Seen int64
	// Option is what changes the limit in the settings of a plugin: limits.kv_value, limits.kv_total or limits.kv_keys.
	Option string
}

// Error says what was too much, and how to mend it.
func (e *LimitError) Error() string {
	switch e.Limit {
	case "value":
		return fmt.Sprintf("the value is %s, and may be %s: raise %s, or store less", size(e.Seen), size(e.Value), e.Option)
	case "total":
		return fmt.Sprintf("keys and values would be %s, and may be %s: delete what is not needed, or raise %s",
			size(e.Seen), size(e.Value), e.Option)
	}
	return fmt.Sprintf("there would be %d keys, and there may be %d: delete what is not needed, or raise %s", e.Seen, e.Value, e.Option)
}

// Is says whether target is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// Usage is what a namespace holds, without what has expired.
type Usage struct {
	// Keys is how many keys there are, and Bytes how large they and their values are together.
	Keys, Bytes int64
}

// CheckValue returns a LimitError where a value is too large, whatever else is there.
func (l Limits) CheckValue(value int64) error {
	return check("value", l.Value, DefaultLimits().Value, value)
}

// CheckUsage returns a LimitError where a write brings a namespace above its limits. A write that makes less of what is
// above a limit, which may have been lowered, is let through.
func (l Limits) CheckUsage(before, after Usage) error {
	if after.Keys > before.Keys {
		if err := check("keys", l.Keys, DefaultLimits().Keys, after.Keys); err != nil {
			return err
		}
	}
	if after.Bytes > before.Bytes {
		return check("total", l.Total, DefaultLimits().Total, after.Bytes)
	}
	return nil
}

func check(name string, limit, fallback, seen int64) error {
	if limit == 0 {
		limit = fallback
	}
	if limit < 0 || seen <= limit {
		return nil
	}
	return &LimitError{Limit: name, Value: limit, Seen: seen, Option: "limits.kv_" + name}
}

// size writes a number of bytes as people say it. What is no whole number of a unit is written in bytes, so that two sizes
// in one sentence never look the same.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
