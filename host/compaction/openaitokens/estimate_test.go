package openaitokens_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/host/compaction"
	"github.com/weft-run/weft/host/compaction/openaitokens"
)

// The corpus. The estimator's numbers were fitted to other texts.
const (
	english = `The ferry leaves the northern harbour twice a day, weather permitting, and takes about forty minutes. Tickets are sold on
board; there is no need to book ahead except during the summer holidays, when the queue can reach the car park. Bring something
warm, because the upper deck is exposed and the wind picks up once you are past the lighthouse. If you miss the last boat back,
the small inn above the landing keeps three rooms, and its owner will usually rent you a bicycle for the following morning.`
	german = `Die Wanderung beginnt am Parkplatz hinter der Kirche und führt zunächst durch einen lichten Buchenwald. Nach etwa einer
Stunde erreicht man eine Schutzhütte, von der aus sich bei klarem Wetter ein weiter Blick über die Seenlandschaft öffnet. Der
Abstieg ist an einigen Stellen rutschig, festes Schuhwerk wird deshalb ausdrücklich empfohlen. Hunde müssen im gesamten
Naturschutzgebiet angeleint bleiben. Für Kinder unter sechs Jahren ist die Strecke wegen der ungesicherten Felskanten ungeeignet.`
	chinese = `这家图书馆每天早上九点开门,晚上八点关门,星期一全天休息。第一次来的读者需要带身份证办理借书卡,手续很简单,大约五分钟就能完成。每人每次最多可以借十本书,
期限是三十天,如果没有看完,可以在网上续借一次。二楼有安静的阅览室,三楼是儿童区,周末常常举办讲故事的活动。馆内不能吃东西,但是可以喝水。`
	japanese = `この美術館は駅から歩いて十分ほどの静かな住宅街にあります。建物は古い倉庫を改装したもので、天井が高く、自然の光がよく入ります。常設展では地元の作家の作品を中心に紹介していて、
春と秋には特別展も開かれます。写真を撮ることはできますが、フラッシュは使わないでください。一階のカフェでは手作りのケーキとコーヒーを楽しむことができます。`
	emoji = `Moving day 🚚📦📦! Thanks to everybody who helped 💪😅 – the piano 🎹 nearly killed us 😂😂. New place has a garden 🌻🌳 and the
cat 🐈 already owns the sofa 🛋️. Housewarming on Saturday 🥳🎈, bring snacks 🍕🥗 and good mood ✨👍🏼. RSVP with ✅ or ❌, love you all ❤️🙌`
	jsonText = `{"order_id":"A-20391","customer":{"name":"Ida Holm","email":"ida@example.com","vip":false},"items":[{"sku":"LMP-04","qty":2,
"unit_price":34.90,"tags":["lamp","desk"]},{"sku":"CBL-11","qty":1,"unit_price":7.25,"tags":[]}],"shipping":{"method":"express",
"address":{"street":"Harbour Road 12","zip":"20457","city":"Hamburg","country":"DE"},"eta":"2025-03-14T09:30:00Z"},"notes":null}`
	goCode = `// merge returns the sorted union of two sorted lists.
func merge(left, right []int) []int {
	out := make([]int, 0, len(left)+len(right))
	for len(left) > 0 && len(right) > 0 {
		switch {
		case left[0] < right[0]:
			out, left = append(out, left[0]), left[1:]
		case right[0] < left[0]:
			out, right = append(out, right[0]), right[1:]
		default:
			out, left, right = append(out, left[0]), left[1:], right[1:]
		}
	}
	if err := checkSorted(out); err != nil {
		return nil
	}
	return append(append(out, left...), right...)
}`
)

// The error that the estimator's documentation promises.
func TestEstimatorIsNearEnough(t *testing.T) {
	exact := tokenizer(t, openaitokens.O200kBase)
	finer := tokenizer(t, openaitokens.CL100kBase)
	off := func(estimate, want int) float64 { return 100 * float64(estimate-want) / float64(want) }
	var estimates, counts int
	for _, c := range []struct{ name, text string }{
		{"english", english},
		{"german", german},
		{"chinese", chinese},
		{"japanese", japanese},
		{"emoji", emoji},
		{"json", jsonText},
		{"go", goCode},
	} {
		estimate, count := compaction.Estimator{}.Count(c.text), exact.Count(c.text)
		t.Logf("%-9s estimate %4d, o200k_base %4d (%+.1f%%), cl100k_base %4d (%+.1f%%)", c.name, estimate, count, off(estimate, count),
			finer.Count(c.text), off(estimate, finer.Count(c.text)))
		require.LessOrEqual(t, math.Abs(off(estimate, count)), 15.0, c.name)
		estimates, counts = estimates+estimate, counts+count
	}
	t.Logf("together  estimate %4d, o200k_base %4d (%+.1f%%)", estimates, counts, off(estimates, counts))
	require.LessOrEqual(t, math.Abs(off(estimates, counts)), 6.0)
}
