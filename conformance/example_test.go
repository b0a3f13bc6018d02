package conformance_test

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/conformance"
)

func ExamplePlay() {
	s, err := conformance.Parse("greeting.json", []byte(`{
		"name": "greeting",
		"agent": {"providers": [{
			"kind": "script", "source_id": "clock",
			"before_run": [{"op": "extend_instructions", "instructions": ["It is noon."]}]
		}]},
		"model": {"replies": [{"text": "Good evening."}]},
		"turns": [{"input": "hi", "expect": {"text": "Good day."}}],
		"expect": {"requests": [{"instructions": "It is noon."}]}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	result := conformance.Play(context.Background(), s, conformance.Options{})
	fmt.Println(result.Name, result.Status)
	for _, d := range result.Differences {
		fmt.Println(d)
	}
	// Output:
	// greeting fail
	// /turns/0/expect/text: want "Good day.", have "Good evening."
}

func ExampleParse_mistake() {
	_, err := conformance.Parse("typo.json", []byte(`{"name": "typo", "model": {}, "turns": [{"imput": "hi"}]}`))
	fmt.Println(err)
	// Output: typo.json: /turns/0: unknown key "imput"; did you mean "input"?
}
