package strictjson_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/internal/strictjson"
)

// Whatever the document before was like, and wherever reading it ended.
func TestADecoderThatServedBeforeReadsAfresh(t *testing.T) {
	before := []string{`{"a":1,"b":{"a":2}}`, `{"a":1,"a":2}`, `{"a":[{"b":`, `nonsense`, ``, `{"a":1} {"a":1}`}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 200 {
				dec, err := strictjson.Decoder([]byte(before[(n+i)%len(before)]), 8)
				require.NoError(t, err)
				_ = strictjson.Object(dec, new(int), func(string) (bool, error) { return false, nil })
				strictjson.Release(dec)

				text := fmt.Sprintf(`{"a":"%d.%d","b":"c"}`, n, i)
				dec, err = strictjson.Decoder([]byte(text), 8)
				require.NoError(t, err)
				members, err := strictjson.Members(dec)
				require.NoError(t, err)
				require.NoError(t, strictjson.End(dec))
				strictjson.Release(dec)
				require.Len(t, members, 2)
				require.Equal(t, fmt.Sprintf(`"%d.%d"`, n, i), string(members["a"]))
			}
		})
	}
	wg.Wait()
}
