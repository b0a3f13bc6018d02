package openaitokens_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/host/compaction/openaitokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tokenizer(t *testing.T, e openaitokens.Encoding) *openaitokens.Tokenizer {
	t.Helper()
	made, err := openaitokens.New(e)
	require.NoError(t, err)
	require.Equal(t, e, made.Encoding())
	return made
}

func ExampleForModel() {
	tokenizer, err := openaitokens.ForModel("gpt-4o-mini")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tokenizer.Encoding(), tokenizer.Count("hello world"))
	// Output: o200k_base 2
}

// The counts are those that OpenAI's own tokenizer and its documentation give.
func TestKnownCounts(t *testing.T) {
	o200k, cl100k := tokenizer(t, openaitokens.O200kBase), tokenizer(t, openaitokens.CL100kBase)
	for _, c := range []struct {
		text          string
		o200k, cl100k int
	}{
		{"", 0, 0},
		{"hello world", 2, 2},
		{"hello  world", 3, 3},
		{"tiktoken is great!", 6, 6},
		{"antidisestablishmentarianism", 6, 6},
		{"2 + 2 = 4", 7, 7},
		{"お誕生日おめでとう", 8, 9},
		{"supercalifragilistic", 6, 7},
		{"'RE", 2, 1},
		{"We know what we are, but know not what we may be.", 14, 14},
	} {
		require.Equal(t, c.o200k, o200k.Count(c.text), "o200k_base of %q", c.text)
		require.Equal(t, c.cl100k, cl100k.Count(c.text), "cl100k_base of %q", c.text)
	}
}

func TestTextThatIsNotWhatItSeems(t *testing.T) {
	o200k := tokenizer(t, openaitokens.O200kBase)
	require.Greater(t, o200k.Count("<|endoftext|>"), 1, "a special token in a message is plain text")
	require.Equal(t, 3, o200k.Count("a\x7fb"), "a control character")
	require.Equal(t, o200k.Count("a\uFFFDb"), o200k.Count("a\xffb"), "bytes that are no UTF-8")
	for _, piece := range []string{" ", "a", "\n", "汉", "!", "🎉", "A", "\t \n"} {
		require.Positive(t, o200k.Count(strings.Repeat(piece, 50_000)), "a long run of %q ends soon", piece)
	}
}

func TestModels(t *testing.T) {
	for encoding, models := range map[openaitokens.Encoding]string{
		openaitokens.O200kBase: "gpt-4o gpt-4o-mini gpt-4o-2024-08-06 chatgpt-4o-latest gpt-4.1 gpt-4.1-nano gpt-4.5-preview gpt-5 gpt-5-mini " +
			"gpt-5.1 o1 o1-mini o3-pro o4-mini gpt-oss-120b ft:gpt-4o-mini:me::1 openai/gpt-4o GPT-4o gpt-6 gpt-9-turbo o5 o17-mini chatgpt-7",
		openaitokens.CL100kBase: "gpt-4 gpt-4-turbo gpt-4-0613 gpt-4-32k gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-35-turbo text-embedding-ada-002 " +
			"text-embedding-3-small ft:gpt-3.5-turbo:me:x:1 azure/gpt-4",
	} {
		for model := range strings.FieldsSeq(models) {
			got, err := openaitokens.EncodingOf(model)
			require.NoError(t, err, model)
			require.Equal(t, encoding, got, model)
		}
	}
	for _, model := range []string{"", "llama-3", "gpt2", "gpt-2", "text-davinci-003", "gpt", "gpt-", "o", "o-1", "opus", "ft:", "openai/"} {
		_, err := openaitokens.ForModel(model)
		var unknown *openaitokens.UnknownError
		require.ErrorAs(t, err, &unknown, model)
		require.Equal(t, model, unknown.Model)
	}
	_, err := openaitokens.ForModel("llama-3")
	for _, part := range []string{`"llama-3"`, "gpt-4o*", "o3*", "gpt-35*", "o200k_base, cl100k_base", "compaction.Estimator"} {
		require.ErrorContains(t, err, part)
	}
	_, err = openaitokens.New("p50k_base")
	require.EqualError(t, err, `encoding "p50k_base" is not one of o200k_base, cl100k_base`)
}

func TestManyGoroutinesCountAlike(t *testing.T) {
	shared := tokenizer(t, openaitokens.O200kBase)
	want := shared.Count(english)
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			own, err := openaitokens.New(openaitokens.O200kBase)
			if err != nil || shared.Count(english) != want || own.Count(english) != want {
				t.Error("another count", err)
			}
		})
	}
	wait.Wait()
}

func BenchmarkCount(b *testing.B) {
	made, err := openaitokens.New(openaitokens.O200kBase)
	require.NoError(b, err)
	b.SetBytes(int64(len(english)))
	for b.Loop() {
		made.Count(english)
	}
}

func FuzzCount(f *testing.F) {
	f.Add("hello world")
	f.Add("\xff\xfe \n\n\n '’s 汉字 👨‍👩‍👧 <|im_start|>")
	made, err := openaitokens.New(openaitokens.O200kBase)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		n := made.Count(text)
		require.Equal(t, text == "", n == 0)
		require.LessOrEqual(t, n, 3*len(text), "at most a token for each byte, and U+FFFD for each that is no UTF-8")
	})
}
