package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	pdkjson "github.com/weft-run/weft/pdk/go/json"
	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{
		Hooks: pdktest.Hooks{"describe": describe, "init": initialise, "before_run": beforeRun},
		Begin: func(t *testing.T, _ time.Time) { mayEmbed(t, false) },
	}.Test(t)
}

// mayEmbed sets what init would leave, for one test.
func mayEmbed(t *testing.T, may bool) {
	t.Helper()
	embeds = may
	t.Cleanup(func() { embeds = false })
}

func equal(t *testing.T, want, have []string) {
	t.Helper()
	if !slices.Equal(want, have) {
		t.Errorf("want %q\nhave %q", want, have)
	}
}

func TestWhatWasSaidIsRememberedInALaterRun(t *testing.T) {
	for _, find := range []string{`{}`, `{"find":"embed"}`} {
		mayEmbed(t, find != `{}`)
		w := newWorld(t, `["Ada lives in Paris.", "Ada has a cat."]`)
		if out := w.tell("1", find).Output; out != `{"state":{"runs":["1"]}}` {
			t.Error(out)
		}
		have := w.added(t, "Which museums are in Paris?", find)
		want := "What is remembered of earlier conversations (may be outdated):\n- (2026-11-21) Ada lives in Paris."
		if !strings.HasPrefix(have, want) {
			t.Errorf("%s: want %s\nhave %s", find, want, have)
		}
		if have := w.added(t, "Zzz?", find); have != "" {
			t.Errorf("%s: nothing fits: %s", find, have)
		}
	}
}

func TestARunThatIsToldAgainIsHeardOnce(t *testing.T) {
	w := newWorld(t, `[]`)
	state := `{"runs":["` + strings.Join(strings.Split("abcdefghijklmnop", ""), `","`) + `"]}`
	in := `{"run":{"run_id":"RUN"},"state":` + state + `,"input":[{"role":"user","text":"Hi"}]}`
	if out := w.host.Call(t, afterRun, strings.ReplaceAll(in, "RUN", "p")); out != `{}` || w.asked != 0 {
		t.Errorf("%s, asked %d times", out, w.asked)
	}
	out := w.host.Call(t, afterRun, strings.ReplaceAll(in, "RUN", "q"))
	if strings.Contains(out, `"a"`) || !strings.Contains(out, `"b"`) || !strings.HasSuffix(out, `"p","q"]}}`) || w.asked != 1 {
		t.Errorf("the last 16 were wanted: %s, asked %d times", out, w.asked)
	}
}

func TestWhereTheUserSaysNothingTheModelIsNotAsked(t *testing.T) {
	w := newWorld(t, `["x y z"]`)
	out := w.host.Call(t, afterRun, `{"run":{"run_id":"1"},"input":[{"role":"assistant","text":"Hi"},{"role":"user","text":" "}]}`)
	if out != `{}` || w.asked != 0 {
		t.Errorf("%s, asked %d times", out, w.asked)
	}
}

func TestALongTurnIsCut(t *testing.T) {
	w := newWorld(t, `[]`)
	long := strings.Repeat("ü", 20_000)
	result := w.host.Run(afterRun, `{"run":{"run_id":"1"},"input":[{"role":"user","text":"`+long+
		`"}],"response":{"messages":[{"role":"assistant","text":"`+long+`"}]}}`)
	if n := len(result.Asked[0].Input); n < mostInput+mostResponse || n > mostInput+mostResponse+2_000 {
		t.Errorf("the model was sent %d bytes", n)
	}
}

func TestTheLastThatTheUserSaidIsLookedUp(t *testing.T) {
	w := newWorld(t, `[]`)
	result := w.host.Run(beforeRun, `{"input":[{"role":"user","text":"One?"},{"role":"user","text":"Two?"},`+
		`{"role":"user","text":" "},{"role":"assistant","text":"Three?"}]}`)
	if len(result.Asked) != 1 || !strings.Contains(result.Asked[0].Input, `"query":"Two?"`) {
		t.Error(result.Asked)
	}
}

func TestWhatIsKnownIsNotStoredAgain(t *testing.T) {
	w := newWorld(t, `["Ada lives in Paris.", "ada  lives in PARIS", "Ada has a cat."]`)
	w.tell("1", `{}`)
	w.answer = `["ADA LIVES IN PARIS.", "Ada has  a cat!", "Ada is a pilot."]`
	w.tell("2", `{}`)
	equal(t, []string{"Ada has a cat.", "Ada is a pilot.", "Ada lives in Paris."}, w.stored())
	for _, asked := range w.tell("3", `{}`).Asked {
		if asked.Function == "kv_set" || asked.Function == "index_put" {
			t.Errorf("nothing is new, and %s was called with %s", asked.Function, asked.Input)
		}
	}
	if len(w.indexed) != 3 {
		t.Error(w.indexed)
	}
}

func TestNearDuplicatesAreDroppedWhereThePluginMayEmbed(t *testing.T) {
	mayEmbed(t, false) // and afterwards again, whatever init says
	for _, may := range []bool{false, true} {
		grants := `"search":[{"index":"memory","mode":"rw"}]`
		if may {
			grants += `,"embed":{"calls":1,"tokens":8000}`
		}
		pdktest.Call(t, initialise, `{"hook":"init","grants":{`+grants+`}}`)
		w := newWorld(t, `["Ada lives in Paris.", "In Paris lives Ada."]`)
		w.tell("1", `{}`)
		w.answer = `["Lives in Paris, Ada.", "Moo too, zoo."]`
		w.tell("2", `{}`)
		if n := len(w.stored()); may && n != 2 || !may && n != 4 {
			t.Errorf("embeds: %v, %d facts are stored: %q", may, n, w.stored())
		}
	}
}

func TestTheOldestFactsGoFirst(t *testing.T) {
	const config = `{"max_facts":2}`
	w := newWorld(t, "")
	for i, fact := range []string{"Ada has one cat.", "Ada has two cats.", "Ada has three cats."} {
		w.answer = text([]string{fact})
		w.tell(string(rune('1'+i)), config)
	}
	equal(t, []string{"Ada has three cats.", "Ada has two cats."}, w.stored())
	if len(w.indexed) != 2 {
		t.Error(w.indexed)
	}
}

func TestUsersDoNotSeeEachOthersFacts(t *testing.T) {
	for _, find := range []string{findSearch, findEmbed} {
		mayEmbed(t, find == findEmbed)
		w := newWorld(t, `["Ada lives in Paris."]`)
		w.tell("1", `{"user":"ada","find":"`+find+`"}`)
		if have := w.added(t, "Who lives in Paris?", `{"user":"ad","find":"`+find+`"}`); have != "" {
			t.Error(have)
		}
		if have := w.added(t, "Who lives in Paris?", `{"user":"ada","find":"`+find+`"}`); !strings.Contains(have, "Ada lives") {
			t.Error(have)
		}
	}
}

func TestWhatOnlyTheIndexHoldsIsNotRemembered(t *testing.T) {
	w := newWorld(t, ``)
	w.indexed["fact/default/0123456789abcdef"] = "Ada lives in Paris."
	if have := w.added(t, "Paris?", `{}`); have != "" {
		t.Error(have)
	}
}

func TestNoMoreIsAddedThanTheConfigSays(t *testing.T) {
	for _, config := range []string{`{"max_added":2}`, `{"max_added":2,"find":"embed"}`} {
		mayEmbed(t, strings.Contains(config, "embed"))
		w := newWorld(t, `["Ada has a cat.", "Ada has no dog.", "Ada has six tortoises."]`)
		w.tell("1", config)
		if have := w.added(t, "What has Ada?", config); strings.Count(have, "\n- ") != 2 {
			t.Error(have)
		}
		if have := w.added(t, "What has Ada?", strings.Replace(config, "}", `,"min_score":1000}`, 1)); have != "" {
			t.Error(have)
		}
	}
}

func TestTheModelsAnswerIsReadFromWhateverStandsAroundIt(t *testing.T) {
	for answer, want := range map[string][]string{
		`["Ada lives in Paris."]`: {"Ada lives in Paris."},
		"Here [1] they are:\n```json\n[\"Ada has a cat.\", \"Ada flies.\"]\n```": {"Ada has a cat.", "Ada flies."},
		`{"facts": ["Ada has a cat."]}`:                                          {"Ada has a cat."},
		`[] or rather ["Ada has a cat."]`:                                        {"Ada has a cat."},
		"[\"Ada\\nhas\\u202e a\\u0000 cat.\"]":                                   {"Ada has a cat."},
		`["", "?", "42", "` + strings.Repeat("long ", 100) + `", "Ada flies."]`:  {"Ada flies."},
		`[]`: nil,
	} {
		have, ok := sentences(answer)
		if !ok || !slices.Equal(want, have) {
			t.Errorf("%s: want %q, have %q, %v", answer, want, have, ok)
		}
	}
	if have, _ := sentences(`["` + strings.Repeat(`Ada flies.","`, 99) + `Ada flies."]`); len(have) != mostSentences {
		t.Errorf("%d sentences", len(have))
	}
}

func TestRubbishStoresNothing(t *testing.T) {
	for _, answer := range []string{
		"", "Noted.", "[", `["Ada lives in Paris.`, `[{"fact": 1}]`, `{"fact": "Ada"}`, `[1, 2]`, `["Ada lives", null]`,
		strings.Repeat("[", 5000), `["\ud800 is no text"]`,
	} {
		w := newWorld(t, answer)
		result := w.tell("1", `{}`)
		if len(w.stored()) != 0 || len(w.indexed) != 0 || result.Output != `{"state":{"runs":["1"]}}` {
			t.Errorf("%q: %s, %v", answer, result.Output, w.indexed)
		}
		if len(result.Logs) != 1 || result.Logs[0].Level != "debug" || !strings.Contains(result.Logs[0].Text, "JSON array") {
			t.Errorf("%q: it logged %v", answer, result.Logs)
		}
	}
}

func TestWhatTheHostRefusesDoesNotFailTheRun(t *testing.T) {
	for function, config := range map[string]string{
		"complete": `{}`, "kv_list": `{}`, "kv_set": `{}`, "index_put": `{}`, "embed": `{"find":"embed"}`,
	} {
		mayEmbed(t, function == "embed")
		w := newWorld(t, `["Ada lives in Paris."]`)
		delete(w.host.Functions, function)
		result := w.tell("1", config)
		if result.Output != `{}` || len(result.Logs) != 1 || result.Logs[0].Level != "warn" {
			t.Errorf("%s: %s, logged %v", function, result.Output, result.Logs)
		}
		if len(w.indexed) != 0 {
			t.Errorf("%s: in the index is what is not stored: %v", function, w.indexed)
		}
	}
	for function, config := range map[string]string{
		"search": `{}`, "kv_get": `{}`, "kv_list": `{"find":"embed"}`, "embed": `{"find":"embed"}`,
	} {
		mayEmbed(t, true)
		w := newWorld(t, `["Ada lives in Paris."]`)
		w.tell("1", config)
		delete(w.host.Functions, function)
		result := w.host.Run(beforeRun, `{"config":`+config+`,"input":[{"role":"user","text":"Paris?"}]}`)
		if result.Output != `{}` || len(result.Logs) != 1 || result.Logs[0].Level != "warn" {
			t.Errorf("%s: %s, logged %v", function, result.Output, result.Logs)
		}
	}
}

func TestFactsAreStoredWhereTheyCannotBeComparedByVectors(t *testing.T) {
	mayEmbed(t, true)
	w := newWorld(t, `["Ada lives in Paris."]`)
	delete(w.host.Functions, "embed")
	result := w.tell("1", `{}`)
	equal(t, []string{"Ada lives in Paris."}, w.stored())
	if len(result.Logs) != 1 || result.Logs[0].Level != "warn" {
		t.Error(result.Logs)
	}
}

func TestAFactThatAnotherRunHasJustStoredIsNoFailure(t *testing.T) {
	w := newWorld(t, `["Ada lives in Paris.", "Ada has a cat."]`)
	w.tell("1", `{}`)
	list := w.host.Functions["kv_list"]
	w.host.Functions["kv_list"] = func(string) string { return `{"entries":[],"more":false}` }
	w.answer = `["Ada lives in Paris.", "Ada flies."]`
	result := w.tell("2", `{}`)
	w.host.Functions["kv_list"] = list
	equal(t, []string{"Ada flies.", "Ada has a cat.", "Ada lives in Paris."}, w.stored())
	if len(result.Logs) != 0 {
		t.Error(result.Logs)
	}
}

func TestForget(t *testing.T) {
	facts := []string{
		"Ada lives in Paris.", "Ada works in Paris.", "Ada has a cat.", "Ada likes tea.", "Ada likes jazz.", "Ada flies.", "Ada flies planes.", "Ada dives.",
	}
	for wanted, want := range map[string]struct {
		says string
		left int
	}{
		"Ada lives in Paris":          {"Deleted:\n- Ada lives in Paris.", 7},
		"ada flies":                   {"Deleted:\n- Ada flies.", 7},
		"paris":                       {"Deleted:\n- Ada ", 6},
		"that she has a cat":          {"Deleted:\n- Ada has a cat.", 7},
		"Ada":                         {"Nothing was deleted, as too much fits; say which in more words. Among it:\n- ", 8},
		"her strong dislike of tea":   {"Nothing was deleted, as nothing fits well. The nearest:\n- Ada likes tea.", 8},
		"the moon":                    {"Nothing like that is remembered; nothing was deleted.", 8},
		"…":                           {"Nothing like that is remembered; nothing was deleted.", 8},
		"Ada lives in Paris and Rome": {"Deleted:\n- Ada lives in Paris.", 7},
	} {
		w := newWorld(t, text(facts))
		w.tell("1", `{"tool":true}`)
		var out struct{ Result string }
		parse(w.host.Call(t, callTool, `{"config":{"tool":true},"call":{"name":"forget","arguments":{"text":`+text(wanted)+`}}}`), &out)
		left := w.stored()
		if !strings.HasPrefix(out.Result, want.says) || len(left) != want.left || len(w.indexed) != want.left {
			t.Errorf("%q: %s\nleft %q", wanted, out.Result, left)
		}
	}
}

func TestVectorsSurviveStorage(t *testing.T) {
	a := direction([]float32{0.1, -0.7, 0.35, 0})
	f := fact{Text: "x", Vector: a}
	stored := pdkjson.Marshal(&f)
	var back fact
	if err := pdkjson.Unmarshal(stored, &back); err != nil || !slices.Equal(a, back.Vector) {
		t.Errorf("%s: %v, %v", stored, back.Vector, err)
	}
	if err := pdkjson.Unmarshal(`{"vector":"?"}`, &back); err == nil {
		t.Error("what is no base64 is a fault")
	}
	if c := cosine(a, direction([]float32{0.2, -1.4, 0.7, 0})); c < 0.9999 {
		t.Error(c)
	}
	if c := cosine(a, direction([]float32{0, 0, 0, 1})); c != 0 {
		t.Error(c)
	}
	if c := cosine(a, direction([]float32{0, 0, 0, 0})) + cosine(a, a[:2]); c != 0 {
		t.Error(c)
	}
}
