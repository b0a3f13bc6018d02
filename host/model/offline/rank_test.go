package offline

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-run/weft/message"
)

// TestBestQuote is what the weights and thresholds of rank.go are tuned with: for each question, what the answer must
// quote, or that it quotes nothing.
func TestBestQuote(t *testing.T) {
	const nothingFits = ""
	abi := document(t, "abi.txt")
	shop := []*message.Message{
		from("faq", "Orders leave our warehouse within two days. Delivery takes three to five days in Europe."),
		from("faq", "You may return an article within 30 days. We refund the price, but not the postage."),
		from("faq", "Gift cards never expire. They cannot be returned. We accept cards, transfers and cash."),
		from("weather", "Berlin: 4 °C, rain.\nLisbon: 17 °C, clear sky."),
	}
	notes := []*message.Message{
		from("notes", "# Deploying\n\nThe staging server is `stage-2`. Deployments run every night at 02:00; Grace is on call.\n\n# Team\n\n"+
			"- Grace leads the database group.\n- Linus reviews the kernel.\n"),
	}
	for _, test := range []struct {
		context  []*message.Message
		question string
		want     string
	}{
		{abi, "What does before_run receive?", "IN-2 `before_run` receives the input"},
		{abi, "what does `before_run` get", "IN-2 `before_run` receives the input"},
		{abi, "Which inputs does before_run receive from the host?", "IN-2 `before_run` receives the input"},
		{abi, "What does after_run receive?", "IN-3 `after_run`"},
		{abi, "What may before_run return?", "may return: messages, instructions, tools, state"},
		{abi, "What is the type of an export?", "Every export has the type `() -> i32`"},
		{abi, "Who frees the input?", "IN-1 The host writes the input"},
		{abi, "What is extend_messages?", "`extend_messages`: messages that are added"},
		{abi, "How big may a response be?", nothingFits},
		{abi, "How large is the memory of a plugin?", "64 MiB unless"},
		{abi, "What happens to a plugin that asks for too much?", "refused at load"},
		{abi, "tell me about unknown fields", "IN-4"},
		{abi, "What is the run command?", nothingFits},
		{abi, "weft.yaml", "weft.yaml"},
		{abi, "IN-4", "IN-4 Unknown fields"},
		{abi, "And run_failed?", "`run_failed`"},
		{abi, "Does before_run like cheese?", nothingFits},
		{abi, "Who wrote the documentation?", nothingFits},
		{abi, "What is the weather in Berlin?", nothingFits},
		{abi, "How do I bake bread?", nothingFits},
		{abi, "Which message did Ada write?", nothingFits},
		{abi, "What does before_iteration receive?", nothingFits},
		{abi, "How many plugins are there in the world?", nothingFits},
		{shop, "How long does delivery take?", "Delivery takes three to five days"},
		{shop, "Can I return an article?", "return an article within 30 days"},
		{shop, "Do gift cards expire?", "Gift cards never expire."},
		{shop, "Which cards do you accept?", "We accept cards"},
		{shop, "Will you refund the postage?", "refund the price, but not the postage"},
		{shop, "weather in Berlin", "Berlin: 4 °C"},
		{shop, "How is the sky in Lisbon?", "Lisbon: 17 °C, clear sky."},
		{shop, "Where is your shop in Paris?", nothingFits},
		{shop, "Do you sell bicycles?", nothingFits},
		{notes, "What is the staging server?", "The staging server is `stage-2`."},
		{notes, "When do deployments run?", "02:00"},
		{notes, "Who leads the database group?", "Grace leads the database group."},
		{notes, "Who reviews the compiler?", nothingFits},
		{append(shop[:len(shop):len(shop)], abi...), "What does before_run receive?", "IN-2 `before_run` receives the input"},
	} {
		got := answerTo(t, requestFor("Answer from the documentation, and say where it stands.", test.question, test.context...))
		if test.want == nothingFits {
			assert.Contains(t, got, nothing, test.question)
			continue
		}
		assert.Contains(t, got, test.want, test.question)
	}
}

func TestAnInstructionToTheModelAnswersNothingElse(t *testing.T) {
	instructions := "Answer from the documentation, and say where it stands.\nYou are a guide to Weft.\nThe office closes at 18:00."
	for _, q := range []string{
		"Where does the documentation say that?", "Which documentation?", "Is there a guide?", "What is Weft?", "Who answers?",
	} {
		assert.Contains(t, answerTo(t, requestFor(instructions, q)), nothing, q)
	}
	assert.Equal(t, "“The office closes at 18:00.” — instructions", answerTo(t, requestFor(instructions, "When does the office close?")))
}
