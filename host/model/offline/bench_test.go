package offline

import (
	"testing"

	"github.com/weft-run/weft/message"
)

// BenchmarkAnswer answers from about 10 KB of context.
func BenchmarkAnswer(b *testing.B) {
	var context []*message.Message
	size := 0
	for size < 10_000 {
		for _, m := range document(b, "abi.txt") {
			context = append(context, m)
			size += len(m.Text())
		}
	}
	request, client := requestFor(clock, "What does before_run receive?", context...), New(Config{})
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		if _, err := client.Complete(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
