package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/model/openai/openaitest"
)

// key is planted where a key may stand, and must come out nowhere.
const key = "sk-test-opensesame-0123456789"

// model is a server of the protocol.
func model(t *testing.T, replies ...openaitest.Reply) *openaitest.Server {
	t.Helper()
	s := openaitest.New(replies...)
	t.Cleanup(s.Close)
	return s
}

// weftOf runs a command line in this process with a weft.yaml, in which MODEL stands for a model at the server.
func weftOf(t *testing.T, yaml string, server *openaitest.Server, in string, args ...string) (code int, out, told string) {
	t.Helper()
	if server != nil {
		yaml = strings.ReplaceAll(yaml, "MODEL", `{provider: openai, name: test, base_url: "`+server.URL+`"}`)
	}
	file := filepath.Join(t.TempDir(), "weft.yaml")
	require.NoError(t, os.WriteFile(file, []byte(yaml), 0o600))
	var stdout, stderr bytes.Buffer
	code = execute(append([]string{"run", file, "--no-cache"}, args...), streams{in: strings.NewReader(in), out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestAConversationWithAModel(t *testing.T) {
	usage := &openaitest.Usage{Input: 7, Output: 3}
	server := model(t, openaitest.Reply{Text: "Hello Ada.", Usage: usage}, openaitest.Reply{Text: "You are Ada.", Usage: usage})
	code, out, told := weftOf(t, "model: MODEL\n", server, "I am Ada.\nWho am I?\n", "--trace")
	require.Equal(t, exitOK, code, told)
	assert.Equal(t, "Hello Ada.\nYou are Ada.\n", out)
	assert.Contains(t, told, "7 input tokens, 3 output tokens")
	assert.Contains(t, string(server.Requests()[1].Body), "I am Ada.")

	server = model(t, openaitest.Reply{Text: "Hello Ada.", Usage: usage})
	code, out, told = weftOf(t, "model: MODEL\n", server, "", "-m", "I am Ada.", "--json", "--trace")
	require.Equal(t, exitOK, code)
	assert.Empty(t, told)
	var answer answerJSON
	require.NoError(t, json.Unmarshal([]byte(out), &answer))
	assert.Equal(t, "Hello Ada.", *answer.Text)
	assert.Equal(t, &usageJSON{7, 3}, answer.Usage)
	assert.Equal(t, "model", answer.Trace[0].Hook)
}

func TestAnotherModelThanTheConfigs(t *testing.T) {
	t.Setenv("WEFT_TEST_KEY", key)
	other := model(t)
	for name, c := range map[string]struct {
		yaml string
		args []string
		body string
		auth string
	}{
		"in place of the offline one": {"model: offline", []string{"--model", "openai:qwen3:8b", "--base-url", "URL"}, `"qwen3:8b"`, ""},
		"with a key": {
			"model: offline", []string{"--model", "openai:qwen3", "--base-url", "URL", "--api-key-env", "WEFT_TEST_KEY"}, `"qwen3"`, "Bearer " + key,
		},
		"another name":     {"model: {provider: openai, name: test, base_url: 'URL', api_key_env: WEFT_TEST_KEY}", []string{"--model", "openai:big"}, `"big"`, "Bearer " + key},
		"another endpoint": {"model: {provider: openai, name: test, base_url: '" + other.URL + "', api_key_env: WEFT_TEST_KEY, organization: o}", []string{"--base-url", "URL"}, `"test"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := model(t, openaitest.Reply{Text: "Hello."})
			for i := range c.args {
				c.args[i] = strings.ReplaceAll(c.args[i], "URL", server.URL)
			}
			code, out, told := weftOf(t, strings.ReplaceAll(c.yaml, "URL", server.URL), nil, "", append(c.args, "-m", "hi")...)
			require.Equal(t, exitOK, code, told)
			assert.Equal(t, "Hello.\n", out)
			request := server.Requests()[0]
			assert.Contains(t, string(request.Body), `"model":`+c.body)
			assert.Equal(t, c.auth, request.Header.Get("Authorization"))
			assert.Empty(t, request.Header.Get("OpenAI-Organization"))
		})
	}
	assert.Empty(t, other.Requests())
	code, out, told := weftOf(t, "model: {provider: openai, name: test}", nil, "", "--model", "offline", "-m", "hi")
	require.Equal(t, exitOK, code, told)
	assert.NotEmpty(t, out)
}

func TestAKeyThatIsNotSet(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	code, out, told := weftOf(t, "model: {provider: openai, name: test}", nil, "", "-m", "hi")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, out)
	assert.Contains(t, told, "weft.yaml:1:19: model.provider: the environment variable OPENAI_API_KEY, which holds the key of the model's service, "+
		"is not set or empty: set it, or name another one\n")
	code, _, told = weftOf(t, "model: offline", nil, "", "-m", "hi", "--model", "openai:gpt-5-mini")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, told, "OPENAI_API_KEY")
}

// TestTheKeyIsNowhere has a server that refuses the key, and puts it into all that it says.
func TestTheKeyIsNowhere(t *testing.T) {
	t.Setenv("WEFT_TEST_KEY", key)
	echo := openaitest.Reply{Handler: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+r.Header.Get("Authorization")+`","code":"`+key+`"}}`)
	}}
	const yaml = "model: {provider: openai, name: test, base_url: 'URL', api_key_env: WEFT_TEST_KEY}\n" +
		"middleware: [{builtin: logging, content: true}, {builtin: retry, base_delay: 1ms}]\n"
	for _, args := range [][]string{{}, {"--json"}, {"--trace"}, {"--json", "--trace"}, {"--log", "debug"}, {"--session", "SESSION"}} {
		server := model(t, echo)
		session := filepath.Join(t.TempDir(), "chat.json")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "SESSION", session)
		}
		code, out, told := weftOf(t, strings.ReplaceAll(yaml, "URL", server.URL), nil, "", append(args, "-m", "hi")...)
		assert.Equal(t, exitFailed, code)
		assert.Contains(t, out+told, "401", "%v", args)
		assert.Contains(t, out+told, "Incorrect API key provided", "%v", args)
		assert.NotContains(t, out+told, "opensesame", "%v", args)
		assert.Len(t, server.Requests(), 1, "a refused key is not tried again")
		kept, err := os.ReadFile(session)
		if err == nil {
			assert.NotContains(t, string(kept), "opensesame")
		}
	}
}

func TestARateLimitIsSurvived(t *testing.T) {
	limited := openaitest.Status(http.StatusTooManyRequests, nil, `{"error":{"message":"slow down"}}`)
	for retry, want := range map[string]int{"": exitFailed, "middleware: [{builtin: retry, base_delay: 1ms}]\n": exitOK} {
		server := model(t, limited, limited, openaitest.Reply{Text: "Here I am."})
		code, out, told := weftOf(t, "model: MODEL\n"+retry, server, "", "-m", "hi")
		assert.Equal(t, want, code, told)
		if want == exitOK {
			assert.Equal(t, "Here I am.\n", out)
			assert.Equal(t, 2, strings.Count(told, "level=WARN"), told)
		} else {
			assert.Contains(t, told, "429")
		}
	}
}

// What failing runs used of a session's budget is kept with the session, so starting again does not get around it.
func TestABudgetOutlivesFailingStarts(t *testing.T) {
	refused := openaitest.Status(http.StatusBadRequest, nil, `{"error":{"message":"no"}}`)
	server := model(t, refused, refused, refused)
	session := filepath.Join(t.TempDir(), "s.json")
	const yaml = "model: MODEL\nmiddleware: [{builtin: budget, session: {model_calls: 2}}]\n"
	for _, want := range []string{"answered 400", "answered 400", "the session has used 2 model_calls", "the session has used 2 model_calls"} {
		code, _, told := weftOf(t, yaml, server, "", "-m", "hi", "--session", session)
		require.Equal(t, exitFailed, code)
		assert.Contains(t, told, want)
	}
	assert.Len(t, server.Requests(), 2)
}
