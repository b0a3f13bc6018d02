package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/weft-run/weft/abi"
)

// Answers is what host functions answered to the plugins of this package's tests, held against the schema of the contract
// (clause HF-17).
type Answers struct {
	schemas map[string]*jsonschema.Resolved

	mu     sync.Mutex
	good   map[string]int
	faults []string
}

// HoldAnswers has every host function of this process hold what it answers against the schema.
func HoldAnswers() *Answers {
	a := &Answers{schemas: map[string]*jsonschema.Resolved{}, good: map[string]int{}}
	document := closedSchema()
	a.schemas["Failure"] = resolved(document, "#/$defs/Failure")
	for name, f := range hostFunctions {
		a.schemas[name] = resolved(document, document.Defs["Functions"].Properties[name].Properties["output"].Ref)
		hostFunctions[name] = func(ctx context.Context, c *call, input []byte) ([]byte, error) {
			output, err := f(ctx, c, input)
			failure, failed := errors.AsType[*abi.Error](err)
			switch {
			case failed:
				text, _ := json.Marshal(map[string]*abi.Error{"error": failure}) // as functions does
				a.hold(name, "Failure", text)
			case err == nil:
				a.hold(name, name, output)
			}
			return output, err
		}
	}
	return a
}

// Good is how often each function answered as the schema says, failures not counted.
func (a *Answers) Good() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.good)
}

// Faults are the answers that did not meet the schema.
func (a *Answers) Faults() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.faults
}

func (a *Answers) hold(function, schema string, text []byte) {
	var value any
	err := json.Unmarshal(text, &value)
	if err == nil {
		err = a.schemas[schema].Validate(value)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.faults = append(a.faults, fmt.Sprintf("%s answered what abi/schema.json does not take: %v\n%.1000s", function, err, text))
	case schema == function:
		a.good[function]++
	}
}

// closedSchema is the contract's schema, made to refuse members that it does not name: the host gives no others.
func closedSchema() *jsonschema.Schema {
	var document jsonschema.Schema
	if err := json.Unmarshal(abi.Schema(), &document); err != nil {
		panic(err)
	}
	for name, d := range document.Defs {
		open := name == "ReceivedContent" || d.Properties == nil && !strings.HasSuffix(name, "Result")
		if d.Type == "object" && !open {
			d.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	document.OneOf = nil
	return &document
}

func resolved(document *jsonschema.Schema, ref string) *jsonschema.Resolved {
	s := document.CloneSchemas()
	s.Ref = ref
	r, err := s.Resolve(nil)
	if err != nil {
		panic(err)
	}
	return r
}
