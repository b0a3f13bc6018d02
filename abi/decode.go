package abi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
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

// DecodeOut reads what hook h returned. It is strict: one JSON object and nothing after it, no duplicate names, valid
// UTF-8, nesting of at most [Depth], right types, known roles and codes, and only the effects that [Effects] lists for
// h. Members that no version of the contract names are passed over and counted in [Out.Unknown]. Every error is an
// [*OutputError].
func DecodeOut(h Hook, data []byte) (*Out, error) {
	dec, err := open(data)
	if err != nil {
		return nil, err
	}
	out := &Out{}
	messages := message.Decoder{RefuseUnknownKinds: true}
	allowed := Effects(h)
	err = strictjson.Object(dec, &out.Unknown, func(name string) (bool, error) {
		if !slices.Contains(effectNames, name) {
			return false, nil
		}
		if !slices.Contains(allowed, name) {
			return true, &OutputError{
				Pointer: "/" + name,
				Reason:  fmt.Sprintf("%s has no effect %q; it may return %s", h, name, strings.Join(allowed, ", ")),
			}
		}
		var err error
		switch name {
		case "extend_messages":
			out.ExtendMessages, err = messages.List(dec)
		case "extend_instructions":
			out.ExtendInstructions, err = strictjson.Strings(dec)
		case "state":
			out.State, err = strictjson.RawObject(dec)
		case "metadata":
			out.Metadata, err = strictjson.Members(dec)
		case "error":
			out.Error, err = readError(dec, &out.Unknown)
		}
		return true, err
	})
	out.Unknown += messages.Unknown
	if err == nil {
		err = strictjson.End(dec)
	}
	if err != nil {
		return nil, outputError(err)
	}
	return out, nil
}

// effectNames are all members of Out, whichever hook they belong to.
var effectNames = []string{"extend_messages", "extend_instructions", "state", "metadata", "error"}

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

func readGrants(dec *jsontext.Decoder, unknown *int) (*Grants, error) {
	g := &Grants{}
	err := strictjson.Object(dec, unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "read":
			g.Read, err = strictjson.Strings(dec)
		case "add":
			g.Add, err = strictjson.Strings(dec)
		case "roles":
			var roles []string
			roles, err = strictjson.Strings(dec)
			for _, r := range roles {
				g.Roles = append(g.Roles, message.Role(r))
			}
		case "files":
			err = strictjson.Array(dec, func() error {
				var f FileGrant
				err := strictjson.Object(dec, unknown, func(name string) (bool, error) {
					var err error
					switch name {
					case "guest":
						f.Guest, err = strictjson.String(dec)
					case "mode":
						f.Mode, err = strictjson.String(dec)
					default:
						return false, nil
					}
					return true, err
				})
				g.Files = append(g.Files, f)
				return err
			})
		default:
			// A right that this host does not know must not be passed over: the plugin counts on it.
			err = strictjson.Faultf(dec, "right %q is not known to this host; it knows read, add, roles, files", name)
		}
		return true, err
	})
	if err == nil {
		err = g.Check()
	}
	return g, err
}

// Check reports rights that do not exist (clause GRA-6), all of them at once.
func (g Grants) Check() error {
	var faults []string
	for _, r := range g.Read {
		source, isContext := strings.CutPrefix(r, "context:")
		if !slices.Contains([]string{"input", "response", "options", "metadata"}, r) && (!isContext || source == "") {
			faults = append(faults, fmt.Sprintf(
				`read %q is not one of input, response, options, metadata, "context:SOURCE", "context:*"`, r))
		}
	}
	for _, a := range g.Add {
		if !slices.Contains([]string{"messages", "instructions", "metadata"}, a) {
			faults = append(faults, fmt.Sprintf("add %q is not one of messages, instructions, metadata", a))
		}
	}
	for _, r := range g.Roles {
		if !r.Valid() {
			faults = append(faults, fmt.Sprintf("role %q is not one of system, user, assistant, tool", r))
		}
	}
	for _, f := range g.Files {
		if !strings.HasPrefix(f.Guest, "/") {
			faults = append(faults, fmt.Sprintf("files: guest %q is no absolute path, such as /docs", f.Guest))
		}
		if f.Mode != "" && f.Mode != "ro" {
			faults = append(faults, fmt.Sprintf("files: mode %q of %s is not ro, the only mode of ABI 1", f.Mode, f.Guest))
		}
	}
	if faults == nil {
		return nil
	}
	return &OutputError{Pointer: "", Reason: strings.Join(faults, "; ")}
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
