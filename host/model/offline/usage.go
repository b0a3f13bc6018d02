package offline

import (
	"unicode"

	"github.com/weft-run/weft/host"
)

// charactersPerToken is the usual estimate for English text.
const charactersPerToken = 4

// CountTokens is the rule by which this client counts: a token for every four characters of a word or part of four, so at
// least one a word, where a word is what stands between white space. It is an estimate and belongs to no tokenizer.
func CountTokens(text string) int {
	tokens, characters := 0, 0
	for _, r := range text {
		if unicode.IsSpace(r) {
			characters = 0
			continue
		}
		if characters%charactersPerToken == 0 {
			tokens++
		}
		characters++
	}
	return tokens
}

// inputTokens counts the instructions and the texts of all messages.
func inputTokens(request *host.ChatRequest) int {
	n := CountTokens(request.Instructions)
	for _, m := range request.Messages {
		if m != nil {
			n += CountTokens(m.Text())
		}
	}
	return n
}
