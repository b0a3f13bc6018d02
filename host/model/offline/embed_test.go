package offline_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/model/offline"
)

func vectors(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	r, err := offline.New(offline.Config{}).Embed(t.Context(), &host.EmbedRequest{Texts: texts})
	require.NoError(t, err)
	require.Len(t, r.Vectors, len(texts))
	return r.Vectors
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestTextsOfLikeWordsAreNearEachOther(t *testing.T) {
	for _, c := range []struct{ text, near, far string }{
		{"What is the capital of France?", "Paris is the capital city of France.", "A sourdough needs flour, water and patience."},
		{"how do I bake bread", "Baking a bread takes an hour.", "The agent calls its providers in order."},
		{"embeding of a sentnce", "Embedding a sentence", "A plugin has a grant"},
		{"before_run hooks", "The hook before_run is called first.", "Sessions are saved as JSON."},
		{"Wo liegt der Bahnhof?", "Der Bahnhof liegt im Norden.", "Ein Brot braucht Mehl."},
		{"東京はどこですか", "東京は日本にあります", "Paris is in France"},
	} {
		v := vectors(t, c.text, c.near, c.far)
		assert.Greater(t, cosine(v[0], v[1]), cosine(v[0], v[2])+0.1, c.text)
	}
	v := vectors(t, "the cat saw the dog", "the dog saw the cat", "THE CAT SAW THE DOG!")
	assert.InDelta(t, 1, cosine(v[0], v[1]), 1e-6, "the order of words says nothing")
	assert.InDelta(t, 1, cosine(v[0], v[2]), 1e-6, "nor do capitals and signs")
}

func TestEveryVectorHasLengthOne(t *testing.T) {
	for _, text := range []string{"", " ", "!!!", "the", "a word", "\xff\xfe", "\u202e", strings.Repeat("again ", 10_000), strings.Repeat("x", 100_000)} {
		v := vectors(t, text)[0]
		require.Len(t, v, offline.EmbeddingDimensions)
		require.InDelta(t, 1, cosine(v, v), 1e-5, "%.20q", text)
	}
	v := vectors(t, "", "!!!")
	require.NotEqual(t, v[0], v[1])
}

// TestTheVectorsOfAModelNeverChange: whoever stored vectors compares new ones with them. If it fails, the model needs
// another name.
func TestTheVectorsOfAModelNeverChange(t *testing.T) {
	hash := sha256.New()
	for _, v := range vectors(t, "The quick brown fox jumps over the lazy dog.", "before_run in abi.md § IN-2", "Straße, 東京, naïve", "") {
		for _, x := range v {
			_ = binary.Write(hash, binary.LittleEndian, math.Float32bits(x))
		}
	}
	require.Equal(t, "offline-embed-1", offline.EmbeddingModel)
	require.Equal(t, "9534517a3f93fa72", fmt.Sprintf("%x", hash.Sum(nil))[:16])
}

func TestEmbeddingNothingAndEmbeddingWithoutTime(t *testing.T) {
	client := offline.New(offline.Config{})
	for _, request := range []*host.EmbedRequest{nil, {}, {Model: "other"}} {
		r, err := client.Embed(t.Context(), request)
		require.NoError(t, err)
		require.Empty(t, r.Vectors)
		require.Equal(t, offline.EmbeddingModel, r.Model)
	}
	r, err := client.Embed(t.Context(), &host.EmbedRequest{Texts: []string{"two words", "one"}})
	require.NoError(t, err)
	require.Equal(t, &host.Usage{InputTokens: offline.CountTokens("two words one")}, r.Usage)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err = client.Embed(ctx, &host.EmbedRequest{Texts: []string{"x"}})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, r)
}
