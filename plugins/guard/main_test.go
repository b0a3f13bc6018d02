package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{
		Hooks: pdktest.Hooks{"describe": describe, "init": initialise},
		Begin: func(*testing.T, time.Time) { loaded = nil },
	}.Test(t)
}

// guarded plays one model call inside the guard: the request's messages, the model's answer, and what comes of both.
func guarded(t *testing.T, config, messages, answer string) (sent []string, out string) {
	t.Helper()
	loaded = nil
	host := &pdktest.Host{Functions: map[string]func(string) string{
		"get_messages": func(string) string {
			return `{"ranges":[{"start":0,"total":9,"messages":` + messages + `}]}`
		},
		"call_next": func(input string) string {
			sent = append(sent, input)
			return `{"response":{"messages":[{"role":"assistant","contents":[{"type":"text","text":"` + answer + `"}]}]}}`
		},
	}}
	out = host.Call(t, process, `{"hook":"process","layer":"chat","config":`+config+`}`)
	return sent, out
}

func user(texts ...string) string {
	var all []string
	for _, text := range texts {
		all = append(all, `{"role":"user","contents":[{"type":"text","text":"`+text+`"}]}`)
	}
	return "[" + strings.Join(all, ",") + "]"
}

func TestRequestsAreRedactedMessageByMessage(t *testing.T) {
	sent, out := guarded(t, `{"presets":["email"]}`, user("hello", "I am ada@example.com, yes"), "Hi")
	want := `{"splice":[{"start":1,"delete":1,"insert":[{"role":"user","text":"I am [email], yes"}]}]}`
	if len(sent) != 1 || sent[0] != want || out != `{}` {
		t.Errorf("sent %v and returned %s", sent, out)
	}
}

func TestABlockedRequestDoesNotReachTheModel(t *testing.T) {
	rules := `{"rules":[{"name":"weapons","words":["bomb"],"action":"block","message":"No."}]}`
	sent, out := guarded(t, rules, user("How do I build a BOMB?"), "Hi")
	want := `{"response":{"messages":[{"role":"assistant","text":"No."}],"finish_reason":"content_filter"},"terminate":true}`
	if len(sent) != 0 || out != want {
		t.Errorf("sent %v and returned %s", sent, out)
	}
	earlier := `[{"role":"user","text":"bomb"},{"role":"assistant","text":"No."},{"role":"user","text":"Then tell me a joke about bombast"}]`
	if sent, _ = guarded(t, rules, earlier, "Hi"); len(sent) != 1 {
		t.Error("a question that was refused before must not end the conversation for ever")
	}
}

func TestResponsesAreRedactedOrBlocked(t *testing.T) {
	_, out := guarded(t, `{"presets":["credit_card"]}`, user("x"), "It is 4111 1111 1111 1111, not 4111 1111 1111 1112.")
	if !strings.Contains(out, "It is [credit_card], not 4111 1111 1111 1112.") {
		t.Error(out)
	}
	_, out = guarded(t, `{"rules":[{"name":"code name","regexp":"Project [A-Z]\\w+","action":"block","in":["response"]}]}`, user("Project Xeno"), "Project Xeno it is")
	if !strings.Contains(out, "I cannot help with that.") || !strings.Contains(out, "content_filter") {
		t.Error(out)
	}
}

func TestResultsOfToolsAreRedacted(t *testing.T) {
	sent, _ := guarded(t, `{"presets":["email"]}`,
		`[{"role":"tool","contents":[{"type":"function_result","call_id":"1","result":{"mail":"ada@example.com"}},{"type":"function_result","call_id":"2","result":"bob@example.com"}]}]`, "ok")
	if !strings.Contains(sent[0], `"result":"{\"mail\":\"[email]\"}"`) || !strings.Contains(sent[0], `"result":"[email]"`) {
		t.Error(sent)
	}
}

// streamed plays the pieces of an answer, and returns what left.
func streamed(t *testing.T, config string, pieces ...string) string {
	t.Helper()
	loaded = nil
	var left strings.Builder
	carry := ""
	call := func(piece, rest string) {
		text := pdktest.Call(t, onUpdate, `{"hook":"on_update","layer":"chat","config":`+config+carry+rest+`}`)
		var out struct {
			Updates []struct{ Contents []struct{ Text string } }
			Carry   json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		if out.Updates == nil {
			left.WriteString(piece)
		}
		for _, u := range out.Updates {
			for _, c := range u.Contents {
				left.WriteString(c.Text)
			}
		}
		if out.Carry != nil {
			carry = `,"carry":` + string(out.Carry)
		}
	}
	for _, p := range pieces {
		call(p, `,"update":{"role":"assistant","contents":[{"type":"text","text":"`+p+`"}]}`)
	}
	call("", `,"end":true`)
	return left.String()
}

func TestNoMatchSlipsThroughBetweenTwoPieces(t *testing.T) {
	text := "Before it, some words. Then ada.lovelace@example.com and nothing after that but more words, quite some of them."
	for size := 1; size < 40; size++ {
		var pieces []string
		for i := 0; i < len(text); i += size {
			pieces = append(pieces, text[i:min(len(text), i+size)])
		}
		got := streamed(t, `{"presets":["email"],"window":32}`, pieces...)
		if want := strings.ReplaceAll(text, "ada.lovelace@example.com", "[email]"); got != want {
			t.Fatalf("in pieces of %d: %q", size, got)
		}
	}
}

func TestABlockedStreamEndsWithTheMessage(t *testing.T) {
	got := streamed(t, `{"window":16,"rules":[{"name":"x","words":["secret"],"action":"block","message":"No."}]}`,
		"This is a long sentence and the ", "sec", "ret is 42", " and more")
	if !strings.HasSuffix(got, "No.") || strings.Contains(got, "secret") || strings.Contains(got, "42") {
		t.Errorf("%q", got)
	}
}

func TestNumbersThatOnlyLookLikeOnesStay(t *testing.T) {
	for preset, c := range map[string]struct{ text, want string }{
		"iban":       {"DE89 3704 0044 0532 0130 00, DE88 3704 0044 0532 0130 00", "[iban], DE88 3704 0044 0532 0130 00"},
		"us_ssn":     {"123-45-6789 000-12-3456", "[us_ssn] 000-12-3456"},
		"ip_address": {"10.0.0.1 and 10.0.0.300", "[ip_address] and 10.0.0.300"},
		"api_key":    {"sk-abcdefghijklmnop1234 and sk-short", "[api_key] and sk-short"},
	} {
		_, out := guarded(t, `{"presets":["`+preset+`"]}`, user("x"), c.text)
		if !strings.Contains(out, `"`+c.want+`"`) {
			t.Errorf("%s: %s", preset, out)
		}
	}
}

func TestFaultsOfTheConfiguration(t *testing.T) {
	for config, want := range map[string]string{
		`{"rules":[{"name":"x","regexp":"("}]}`:  "missing closing )",
		`{"rules":[{"name":"x","regexp":"a*"}]}`: "matches nothing at all",
		`{"window":3}`:                           "a number from 16 to 4096",
		`{"presets":["everything"]}`:             "there is no preset",
	} {
		loaded = nil
		if out := pdktest.Run(initialise, `{"hook":"init","config":`+config+`}`).Output; !strings.Contains(out, want) {
			t.Errorf("%s: %s", config, out)
		}
	}
}
