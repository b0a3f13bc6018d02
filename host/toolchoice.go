package host

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
)

// The modes of a [ToolChoice].
const (
	// ToolChoiceAuto leaves it to the model. It is the default.
	ToolChoiceAuto = "auto"
	// ToolChoiceNone forbids calls: none is executed, whatever the model says.
	ToolChoiceNone = "none"
	// ToolChoiceRequired asks for a call; the run returns right after the tools ran.
	ToolChoiceRequired = "required"
)

// ToolChoice says whether the model may, must or must not call tools. Its JSON form is the mode, or an object with "mode"
// and "function".
type ToolChoice struct {
	// Mode is auto, none or required; empty means auto.
	Mode string
	// Function, with the mode required, is the one function that must be called.
	Function string
}

// MarshalJSON is the mode alone where no function is named.
func (t ToolChoice) MarshalJSON() ([]byte, error) {
	mode, err := jsontext.AppendQuote(nil, t.Mode)
	if err != nil || t.Function == "" {
		return mode, err
	}
	b, err := jsontext.AppendQuote(append(append([]byte(`{"mode":`), mode...), `,"function":`...), t.Function)
	return append(b, '}'), err
}

// UnmarshalJSON reads either form.
func (t *ToolChoice) UnmarshalJSON(data []byte) error {
	dec, err := strictjson.Decoder(data, 2)
	if err != nil {
		return err
	}
	var read ToolChoice
	if dec.PeekKind() == '"' {
		read.Mode, err = strictjson.String(dec)
	} else {
		err = strictjson.Object(dec, new(int), func(name string) (bool, error) {
			var err error
			switch name {
			case "mode":
				read.Mode, err = strictjson.String(dec)
			case "function":
				read.Function, err = strictjson.String(dec)
			default:
				err = strictjson.Faultf(dec, "tool_choice has mode and function, and no %q", name)
			}
			return true, err
		})
	}
	if err != nil {
		return err
	}
	switch {
	case read.Mode != ToolChoiceAuto && read.Mode != ToolChoiceNone && read.Mode != ToolChoiceRequired:
		return fmt.Errorf("tool_choice %q is not one of auto, none, required", read.Mode)
	case read.Function != "" && read.Mode != ToolChoiceRequired:
		return fmt.Errorf("tool_choice names the function %q, which goes with the mode required alone", read.Function)
	}
	*t = read
	return nil
}
