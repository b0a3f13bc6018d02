// Package openaitokens counts tokens exactly as OpenAI's models do:
//
//	tokenizer, err := openaitokens.ForModel("gpt-4o")
//	if err != nil {
//		return err
//	}
//	budget := compaction.TokenBudget{MaxTokens: 50_000, Tokenizer: tokenizer}
//
// The vocabularies are part of the program, which grows by some 10 MB, and nothing is loaded from a network. This is why the
// package stands beside package compaction and not in it: [compaction.Estimator] needs none of it.
//
// Exact are the tokens of a text. What stands around the texts of a request is the model's own affair;
// [compaction.CountMessages] says what it adds for it.
package openaitokens
