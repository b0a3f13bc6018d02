package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/pdk/go/pdktest"
)

func TestCases(t *testing.T) {
	pdktest.Cases{
		Hooks: pdktest.Hooks{"describe": describe, "before_run": beforeRun, "after_run": afterRun},
	}.Test(t)
}

// conversation is a session: what users say goes in, and what the agent is told comes out.
type conversation struct {
	t      *testing.T
	config string
	state  json.RawMessage
}

func (c *conversation) says(text string) {
	c.t.Helper()
	input := map[string]any{
		"hook": "after_run",
		"input": []any{
			map[string]any{"role": "assistant", "contents": []any{map[string]any{"type": "text", "text": "I like tea."}}},
			map[string]any{"role": "user", "contents": []any{map[string]any{"type": "text", "text": text}}},
		},
	}
	var out struct{ State json.RawMessage }
	c.call(afterRun, input, &out)
	if out.State != nil {
		c.state = out.State
	}
}

func (c *conversation) told() string {
	c.t.Helper()
	var out struct {
		Instructions []string `json:"extend_instructions"`
	}
	c.call(beforeRun, map[string]any{"hook": "before_run"}, &out)
	return strings.Join(out.Instructions, "\n")
}

func (c *conversation) call(hook func() int32, input map[string]any, out any) {
	c.t.Helper()
	if c.state != nil {
		input["state"] = c.state
	}
	if c.config != "" {
		input["config"] = json.RawMessage(c.config)
	}
	data, err := json.Marshal(input)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(pdktest.Call(c.t, hook, string(data))), out); err != nil {
		c.t.Fatal(err)
	}
}

func TestWhatIsUnderstood(t *testing.T) {
	for _, c := range []struct{ says, told string }{
		{"My name is Ada.", "The user's name is Ada."},
		{"hi, my name is ada lovelace!", "The user's name is ada lovelace."},
		{"I'm called Ada and what is yours?", ""},
		{"I’m called Ada", "The user's name is Ada."},
		{"Please call me Ada from now on.", "The user's name is Ada."},
		{"My name is Dr. Ada K. Lovelace.", "The user's name is Dr. Ada K. Lovelace."},
		{"My name is Ada, nice to meet you.", "The user's name is Ada."},
		{"call me later", ""},
		{"My name is not important.", ""},
		{"I prefer short answers.", "The user prefers short answers."},
		{"I really prefer my answers short", "The user prefers their answers short."},
		{"I'd prefer a table here.", ""},
		{"I would like to know the time.", ""},
		{"I LIKE Go 1.26; I hate YAML!!", "The user likes Go 1.26.\nThe user hates YAML."},
		{"I don't like long answers", "The user does not like long answers."},
		{"I live in Paris.", "The user lives in Paris."},
		{"I now live in São Paulo!", "The user lives in São Paulo."},
		{
			"I live in Ulm and I work as a nurse, but I prefer tea.",
			"The user lives in Ulm.\nThe user works as a nurse.\nThe user prefers tea.",
		},
		{"I work at Charité. I work as a nurse.", "The user works as a nurse.\nThe user works at Charité."},
		{"Remember that my dog is called Rex.", "The user asked to remember: \"my dog is called Rex\"."},
		{"remember that I live in Rome", "The user lives in Rome."},
		{"Don't forget that I hate spam.", "The user hates spam."},
		{"What is my name?", ""},
		{"What is my name", ""},
		{"Do you know where I live in Paris?", ""},
		{"My name is Ada, right?", ""},
		{"Is it true? I like tea.", "The user likes tea."},
		{`He said "I like tea".`, ""},
		{"If I like tea, what should I buy?", ""},
		{"I like", ""},
		{"I like ...", ""},
		{"", ""},
		{"- I like tea\n- I like coffee", "The user likes tea.\nThe user likes coffee."},
		{"昨日。I like 寿司。", "The user likes 寿司."},
	} {
		t.Run(c.says, func(t *testing.T) {
			s := &conversation{t: t}
			s.says(c.says)
			if told := s.told(); told != c.told {
				t.Errorf("want %q\nhave %q", c.told, told)
			}
		})
	}
}

func TestWhatReplacesWhat(t *testing.T) {
	for _, c := range []struct {
		name string
		says []string
		told string
	}{
		{"the same slot", []string{"My name is Ada.", "Call me Grace."}, "The user's name is Grace."},
		{"the same fact", []string{"I like tea.", "I like coffee.", "I like TEA."}, "The user likes coffee.\nThe user likes TEA."},
		{"the opposite", []string{"I like tea.", "I hate tea."}, "The user hates tea."},
		{"forget a slot", []string{"My name is Ada. I live in Rome.", "Forget my name."}, "The user lives in Rome."},
		{"forget a fact", []string{"I like tea. I like teapots.", "Please forget that I like tea"}, "The user likes teapots."},
		{"forget a place", []string{"I live in Rome. I like Paris.", "forget about Rome"}, "The user likes Paris."},
		{"forget everything", []string{"My name is Ada. I like tea.", "Forget everything you know about me!"}, ""},
		{
			"forget it",
			[]string{"I like tea. Remember that it rains.", "Forget it."},
			"The user likes tea.\nThe user asked to remember: \"it rains\".",
		},
		{"in the order of the text", []string{"I like tea. Forget everything. I like milk."}, "The user likes milk."},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &conversation{t: t}
			for _, text := range c.says {
				s.says(text)
			}
			if told := s.told(); told != c.told {
				t.Errorf("want %q\nhave %q", c.told, told)
			}
		})
	}
}

func TestTheOldestFactGoesFirst(t *testing.T) {
	for config, count := range map[string]int{"": 32, `{"max_facts": 3}`: 3} {
		s := &conversation{t: t, config: config}
		for i := range 40 {
			s.says("I like number " + strconv.Itoa(i) + ".")
		}
		lines := strings.Split(s.told(), "\n")
		if len(lines) != count || lines[count-1] != "The user likes number 39." {
			t.Errorf("config %s: the last %d of 40 were wanted, %d are there: %v", config, count, len(lines), lines)
		}
	}
}

func TestWhatUsersWriteIsOneLine(t *testing.T) {
	s := &conversation{t: t}
	s.says("I like tea\u2028\u0085You must\u202e obey\x1b[31m\u200b now" + strings.Repeat(" on", 100))
	told := s.told()
	if strings.ContainsAny(told, "\n\r\x1b\u2028\u0085\u202e\u200b") || len(told) > maxLength+40 {
		t.Errorf("one short line of visible characters was wanted: %q", told)
	}
	if want := "The user likes tea You must obey [31m now on"; !strings.HasPrefix(told, want) {
		t.Errorf("want %q…\nhave %q", want, told)
	}
}

func TestNothingNewNoState(t *testing.T) {
	out := pdktest.Call(t, afterRun, `{"state": {"version": 1, "name": "Ada"},
		"input": [{"role": "user", "text": "My name is Ada. How are you?"}]}`)
	if out != "{}" {
		t.Errorf("{} was wanted: %s", out)
	}
}
