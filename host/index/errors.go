package index

import (
	"errors"
	"fmt"
)

// Targets for errors.Is.
var (
	// ErrInvalid: something that was passed is not what it may be. The error says what.
	ErrInvalid = errors.New("invalid")
	// ErrLimit: a limit is in the way. See LimitError.
	ErrLimit = errors.New("limit")
	// ErrClosed: the index is closed.
	ErrClosed = errors.New("the index is closed")
)

// LimitError says that a limit is in the way. It is an ErrLimit.
type LimitError struct {
	// Limit is what is limited: documents, text or files.
	Limit string
	// ID is the document's, where Limit is text.
	ID string
	// Value is the limit and Seen what would have been there: a number of documents or files, or bytes.
	Value, Seen int
	// Option is what changes the limit: Options.MaxDocuments, Options.MaxText or FolderOptions.MaxFiles.
	Option string
}

// Error says what was too much, and how to mend it.
func (e *LimitError) Error() string {
	switch e.Limit {
	case "text":
		return fmt.Sprintf("document %q: the text is %d bytes, and may be %d: split it, or raise %s", e.ID, e.Seen, e.Value, e.Option)
	case "files":
		return fmt.Sprintf("the folder holds more than %d files: raise %s, or choose a smaller folder", e.Value, e.Option)
	}
	return fmt.Sprintf("there would be %d documents, and there may be %d: delete what is not needed, or raise %s", e.Seen, e.Value, e.Option)
}

// Is says whether target is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// maxFaults is how many faults one error tells.
const maxFaults = 10

// faults gathers what is wrong with what was passed.
type faults struct {
	told []error
	more int
}

func (f *faults) add(err error) {
	if len(f.told) == maxFaults {
		f.more++
		return
	}
	f.told = append(f.told, err)
}

// join returns all faults as one error, or nil where there is none.
func (f *faults) join() error {
	switch {
	case len(f.told) == 1:
		return f.told[0]
	case f.more > 0:
		return errors.Join(append(f.told, fmt.Errorf("and %d more", f.more))...)
	}
	return errors.Join(f.told...)
}
