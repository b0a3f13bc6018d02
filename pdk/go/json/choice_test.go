package json_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/json"
)

func TestOneOfTakesTheWordsAndNoOther(t *testing.T) {
	r := json.NewReader(`{"mode":"deep"}`)
	for range r.Object() {
		if word := r.OneOf("flat", "deep"); word != "deep" {
			t.Errorf("it read %q", word)
		}
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{"mode":"Deep"}`:     `at /mode: one of flat, deep was wanted, and "Deep" is there`,
		`{"mode":""}`:         `and "" is there`,
		`{"mode":7}`:          "at /mode: ",
		`{"mode":"a\u200bb"}`: `and "a\u200bb" is there`,
		`{"mode":"` + strings.Repeat("é", 10_000) + `"}`: `and "` + strings.Repeat("é", 20) + `…" is there`,
	} {
		r := json.NewReader(text)
		for range r.Object() {
			if word := r.OneOf("flat", "deep"); word != "" {
				t.Errorf("%.40s: it read %q", text, word)
			}
		}
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, wanted %s", text, err, want)
		}
	}
}

func TestWithinTakesBothEndsAndNothingBeyond(t *testing.T) {
	for text, want := range map[string]string{
		"3": "", "5": "", "2": "a number from 3 to 5 was wanted, and 2 is there", "6": "and 6 is there", "4.5": "whole number", `"4"`: "number",
	} {
		r := json.NewReader(text)
		n := r.Within(3, 5)
		switch err := r.Err(); {
		case want == "" && (err != nil || n == 0):
			t.Errorf("%s: %d, %v", text, n, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || n != 0):
			t.Errorf("%s: %d, %v, wanted %s", text, n, err, want)
		}
	}
}
