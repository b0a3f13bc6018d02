package structured

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/schema"
)

// defaultRepairs is how often the model may try again.
const defaultRepairs = 1

// Config says how an answer is asked for. The zero value is fine.
type Config struct {
	// Name names the form for the model: up to 64 letters, digits, - and _. Default: answer.
	Name string
	// Description tells the model what the answer is.
	Description string
	// Strict asks the service to hold the model to the schema while it writes ([host.ResponseFormat.Strict]).
	Strict bool
	// Repairs is how often the model is told what is wrong and asked again. Nil: 1. 0: never. Less than 0 is an error.
	Repairs *int
}

// format is a form of answer, ready for use. It is safe for many goroutines.
type format struct {
	request host.ResponseFormat
	schema  host.Schema
	// wrapped says that the value travels as {"value": …}.
	wrapped bool
	repairs int
	// decode, where set, is what the value must pass beside the schema.
	decode func(value jsontext.Value) error
}

// newFormat checks a config, and a schema's document. All faults are reported at once.
func newFormat(s host.Schema, c Config) (*format, error) {
	var faults []error
	if c.Name == "" {
		c.Name = "answer"
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if len(c.Name) > 64 || strings.Trim(c.Name, letters) != "" {
		faults = append(faults, fmt.Errorf("name: %.80q: services take 1 to 64 letters, digits, _ and -", c.Name))
	}
	f := &format{schema: s, repairs: defaultRepairs}
	if c.Repairs != nil {
		f.repairs = *c.Repairs
	}
	if f.repairs < 0 {
		faults = append(faults, fmt.Errorf("repairs: %d is less than 0; 0 stands for none", f.repairs))
	}
	f.request = host.ResponseFormat{Name: c.Name, Description: c.Description, Strict: c.Strict}
	if s == nil {
		faults = append(faults, errors.New("schema: it is nil, and an answer needs one: see package schema"))
	} else {
		var err error
		if f.request.Schema, f.wrapped, err = wrapSchema(s.JSON()); err != nil {
			faults = append(faults, fmt.Errorf("schema: %w", err))
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("structured output: %w", errors.Join(faults...))
	}
	return f, nil
}

// formatOf makes the format of a Go type.
func formatOf[T any](c Config) (*format, error) {
	s, err := schema.For[T]()
	if err != nil {
		return nil, fmt.Errorf("structured output: no schema for the type: %w", err)
	}
	f, err := newFormat(s, c)
	if err != nil {
		return nil, err
	}
	f.decode = func(value jsontext.Value) error { return decode(value, new(T)) }
	return f, nil
}
