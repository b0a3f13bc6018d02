package abi

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// Depth is how deep the JSON of a guest may nest (clause LIM-4).
const Depth = 64

// OutputError says why what a plugin returned is not what the contract asks for.
type OutputError struct {
	// Pointer is the JSON pointer of the place; empty for the whole.
	Pointer string
	// Reason says what was wanted and what was there.
	Reason string
}

// Error is the place and the reason.
func (e *OutputError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return "at " + e.Pointer + ": " + e.Reason
}

// DecodeDescription reads what describe returned, as strictly as [DecodeOut] reads effects.
func DecodeDescription(data []byte) (*Description, error) {
	dec, err := open(data)
	if err != nil {
		return nil, err
	}
	d := &Description{}
	var failure *Error
	err = strictjson.Object(dec, &d.Unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "name":
			d.Name, err = strictjson.String(dec)
		case "version":
			d.Version, err = strictjson.String(dec)
		case "description":
			d.Description, err = strictjson.String(dec)
		case "abi":
			d.ABI, err = strictjson.Int(dec)
		case "source_id":
			d.SourceID, err = strictjson.String(dec)
		case "requires":
			d.Requires, err = strictjson.Strings(dec)
		case "config_schema":
			d.ConfigSchema, err = strictjson.RawObject(dec)
		case "grants":
			d.Grants, err = readGrants(dec, &d.Unknown)
		case "layers":
			d.Layers, err = readLayers(dec)
		case "state_version":
			d.StateVersion, err = strictjson.Int(dec)
			if err == nil && d.StateVersion < 0 {
				err = strictjson.Faultf(dec, "state_version %d is below 0", d.StateVersion)
			}
		case "error":
			failure, err = readError(dec, &d.Unknown)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return nil, outputError(err)
	}
	if failure != nil {
		return nil, failure
	}
	return d, nil
}

func readError(dec *jsontext.Decoder, unknown *int) (*Error, error) {
	e := &Error{Code: CodeFailed}
	err := strictjson.Object(dec, unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "code":
			var code string
			code, err = strictjson.String(dec)
			e.Code = Code(code)
			if err == nil && !slices.Contains(Codes, e.Code) {
				err = strictjson.Faultf(dec, "code %q is not one of %s", code, joined(Codes))
			}
		case "message":
			e.Message, err = strictjson.String(dec)
		case "cause":
			e.Cause, err = strictjson.Int(dec)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && e.Message == "" {
		err = strictjson.Faultf(dec, `an error needs a "message"`)
	}
	return e, err
}

// DecodeErrorText reads the text that a guest set as its error: an envelope if it is one, else a plain message.
func DecodeErrorText(text string) *Error {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var envelope struct {
			Error *Error `json:"error"`
		}
		if json.Unmarshal([]byte(text), &envelope) == nil && envelope.Error != nil && envelope.Error.Message != "" {
			if !slices.Contains(Codes, envelope.Error.Code) {
				envelope.Error.Code = CodeFailed
			}
			return envelope.Error
		}
	}
	return &Error{Code: CodeFailed, Message: text}
}

// open checks what can be checked before the first token: that there is anything, and how deep it nests.
func open(data []byte) (*jsontext.Decoder, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, &OutputError{Reason: "the hook returned nothing; a JSON object was wanted, {} where there is nothing to say"}
	}
	dec, err := strictjson.Decoder(data, Depth)
	if err != nil {
		return nil, outputError(err)
	}
	return dec, nil
}

// outputError gives every fault the one type that callers look for.
func outputError(err error) error {
	var own *OutputError
	if errors.As(err, &own) {
		return own
	}
	f := strictjson.AsFault(err)
	return &OutputError{Pointer: f.Pointer, Reason: f.Reason}
}

func joined[T ~string](names []T) string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = string(n)
	}
	return strings.Join(s, ", ")
}
