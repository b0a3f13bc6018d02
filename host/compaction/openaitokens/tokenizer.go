package openaitokens

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/weft-run/weft/host/compaction"
)

// Encoding is a vocabulary, by the name that OpenAI gave it.
type Encoding string

// The encodings that this package has.
const (
	// O200kBase is that of all chat models since GPT-4o.
	O200kBase Encoding = "o200k_base"
	// CL100kBase is that of GPT-4, GPT-3.5 and the embedding models.
	CL100kBase Encoding = "cl100k_base"
)

// Encodings are all encodings, in the order in which errors list them.
func Encodings() []Encoding { return []Encoding{O200kBase, CL100kBase} }

// Tokenizer counts tokens exactly. It is safe for many goroutines.
type Tokenizer struct {
	encoding Encoding
	codec    *codec.Codec
}

var _ compaction.Tokenizer = (*Tokenizer)(nil)

// New makes the tokenizer of an encoding. An encoding that is not known is an [*UnknownError]. The first tokenizer of an
// encoding builds its vocabulary, which takes a moment and stays in memory for the life of the process; later ones share
// it.
func New(e Encoding) (*Tokenizer, error) {
	var c *codec.Codec
	switch e {
	case O200kBase:
		c = codec.NewO200kBase()
	case CL100kBase:
		c = codec.NewCl100kBase()
	default:
		return nil, &UnknownError{Encoding: e}
	}
	c.SetErrorMode(codec.ErrorModeReplace)
	return &Tokenizer{e, c}, nil
}

// ForModel makes the tokenizer of a model, whose encoding is that of [EncodingOf].
func ForModel(model string) (*Tokenizer, error) {
	e, err := EncodingOf(model)
	if err != nil {
		return nil, err
	}
	return New(e)
}

// Encoding is the tokenizer's encoding.
func (t *Tokenizer) Encoding() Encoding { return t.encoding }

// Count is how many tokens the text is. The names of special tokens count as the plain text that they are in a message.
// Bytes that are no UTF-8 count as U+FFFD, which is what a model would be sent. White space that goes on for more than
// 512 bytes is counted in pieces of that many, which may be a token off for each: to cut it as a whole takes time that
// grows with the square of its length, and anybody may put it into a conversation.
func (t *Tokenizer) Count(text string) int {
	n := 0
	for text != "" {
		end := pieceEnd(text)
		n += t.countPiece(text[:end])
		text = text[end:]
	}
	return n
}

func (t *Tokenizer) countPiece(text string) int {
	// The library passes over U+007F, which is a token like any other control character.
	n, err := t.codec.Count(strings.ReplaceAll(text, "\x7f", "\x01"))
	if err != nil { // the splitter gave up, which it is not known to do without a time limit
		return compaction.Estimator{}.Count(text)
	}
	return n
}

// maxBlank is how many bytes of white space are cut as a whole.
const maxBlank = 512

// pieceEnd is where white space has gone on for too long, or the end of the text.
func pieceEnd(text string) int {
	start := 0 // of the white space that goes on
	for i, r := range text {
		switch {
		case !unicode.IsSpace(r):
			start = i + utf8.RuneLen(r)
		case i-start >= maxBlank:
			return i
		}
	}
	return len(text)
}

// family is a set of models of one encoding.
type family struct {
	// name is that of a model. Names that go on behind it with "-" belong to the family, and so do those that go on with
	// anything where open is set.
	name     string
	open     bool
	encoding Encoding
}

// families are tried in this order.
func families() []family {
	return []family{
		{"gpt-4o", false, O200kBase},
		{"gpt-4.", true, O200kBase}, // 4.1, 4.5
		{"gpt-4", false, CL100kBase},
		{"gpt-3.5", false, CL100kBase},
		{"gpt-35", false, CL100kBase}, // as Azure names it
		{"gpt-5", true, O200kBase},
		{"gpt-oss", false, O200kBase},
		{"chatgpt-4o", false, O200kBase},
		{"o1", false, O200kBase},
		{"o3", false, O200kBase},
		{"o4", false, O200kBase},
		{"text-embedding-ada-002", false, CL100kBase},
		{"text-embedding-3", false, CL100kBase},
		{"davinci-002", false, CL100kBase},
		{"babbage-002", false, CL100kBase},
	}
}

func (f family) has(model string) bool {
	rest, ok := strings.CutPrefix(model, f.name)
	return ok && (rest == "" || f.open || rest[0] == '-')
}

// EncodingOf is the encoding of a model by its name, in any case: a known one ("gpt-4o"), one of its versions
// ("gpt-4o-2024-08-06"), a fine-tuned one ("ft:gpt-4o:me::1") or one behind a vendor's name ("openai/gpt-4o"). A name
// that is not known but reads like a later model of OpenAI ("gpt-" or "chatgpt-" and more, or "o" and a number) has the
// newest encoding, [O200kBase]. Any other name is an [*UnknownError].
func EncodingOf(model string) (Encoding, error) {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	all := families()
	if at := slices.IndexFunc(all, func(f family) bool { return f.has(name) }); at >= 0 {
		return all[at].encoding, nil
	}
	if retired(name) {
		return "", &UnknownError{Model: model}
	}
	if laterGPT(name) || laterO(name) {
		return O200kBase, nil
	}
	return "", &UnknownError{Model: model}
}

// retired says that the model is older than both encodings.
func retired(name string) bool { return strings.HasPrefix(name, "gpt-2") || name == "gpt-3" }

func laterGPT(name string) bool {
	return strings.HasPrefix(name, "gpt-") && len(name) > len("gpt-") || strings.HasPrefix(name, "chatgpt-") && len(name) > len("chatgpt-")
}

func laterO(name string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "o"), "-")
	return name != "" && name[0] == 'o' && number != "" && strings.Trim(number, "0123456789") == ""
}

// UnknownError is a model or an encoding that this package does not know.
type UnknownError struct {
	// Model is the name that was given; empty where an encoding was given.
	Model string
	// Encoding is the encoding that was given; empty where a model was given.
	Encoding Encoding
}

// Error lists what is known.
func (e *UnknownError) Error() string {
	encodings := make([]string, 0, 2)
	for _, known := range Encodings() {
		encodings = append(encodings, string(known))
	}
	if e.Model == "" {
		return fmt.Sprintf("encoding %q is not one of %s", e.Encoding, strings.Join(encodings, ", "))
	}
	models := make([]string, 0, 16)
	for _, f := range families() {
		models = append(models, f.name+"*")
	}
	return fmt.Sprintf("no encoding is known for the model %q: known are %s; where you know that it has one of %s, make its tokenizer with New, "+
		"and count with compaction.Estimator otherwise", e.Model, strings.Join(models, ", "), strings.Join(encodings, ", "))
}
