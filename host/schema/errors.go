package schema

import "errors"

// What is wrong with a schema, or a value, for [errors.Is].
var (
	// ErrSchema: the document is not JSON, or a keyword in it has a value that it cannot have.
	ErrSchema = errors.New("not a JSON Schema")
	// ErrTooLarge: the document has more bytes or nests deeper than allowed, see [Limits].
	ErrTooLarge = errors.New("schema too large")
	// ErrTooComplex: to hold a value against the schema would take too many steps. [Parse] returns it where no value could
	// be checked cheaply, Validate where this one cannot.
	ErrTooComplex = errors.New("schema too complex")
	// ErrCycle: a schema refers to itself without descending into the value, so that checking would never end.
	ErrCycle = errors.New("schema refers to itself")
	// ErrRemoteReference: a reference leads out of the document. Nothing is ever fetched.
	ErrRemoteReference = errors.New("reference to another document")
	// ErrReference: a reference leads to nothing in the document.
	ErrReference = errors.New("reference to nothing")
	// ErrPattern: a pattern is not a regular expression of package regexp.
	ErrPattern = errors.New("bad pattern")
	// ErrType: no schema can be made of a Go type.
	ErrType = errors.New("no schema for this Go type")
	// ErrInvalid: a value does not fit.
	ErrInvalid = errors.New("does not fit the schema")
)
