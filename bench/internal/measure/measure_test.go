package measure_test

import (
	"errors"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-run/weft/bench/internal/measure"
)

func TestFiguresSayWhetherTheyMissTheirTarget(t *testing.T) {
	require.Equal(t, "x native 1.77 (at most 1.8)", measure.AtMost("x native", 1.7654, "", 1.8).String())
	require.Equal(t, "more 12.3 MiB (at most 8, **missed**)", measure.AtMost("more", 12.345, "MiB", 8).String())
	require.Equal(t, "gain 1.79 (at least 1.8, **missed**)", measure.AtLeast("gain", 1.79, "", 1.8).String())
	require.Equal(t, "gain 1.8 (at least 1.8)", measure.AtLeast("gain", 1.8, "", 1.8).String())
	require.Equal(t, "calls 1,234,567", measure.Plain("calls", 1234567, "").String())
	text, missed := measure.Cells([]measure.Figure{measure.Plain("a", 1, "µs"), measure.AtMost("b", 3, "", 2)})
	require.Equal(t, "a 1 µs; b 3 (at most 2, **missed**)", text)
	require.Equal(t, 1, missed)
}

func TestNumbersKeepThreeDigits(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 0.012345: "0.0123", 1.2345: "1.23", 999.6: "1,000", 12345.6: "12,346", -1234.5: "-1,235"} {
		require.Equal(t, want, measure.Number(measure.Rounded(value)), strconv.FormatFloat(value, 'f', -1, 64))
	}
	require.Empty(t, measure.Filled(0))
}

func TestMedians(t *testing.T) {
	require.Equal(t, 2, measure.Median([]int{3, 1, 2}))
	require.Equal(t, 2, measure.Median([]int{4, 3, 1, 2}))
	require.InDelta(t, 3, measure.Ratios([]float64{2, 9, 40}, []float64{1, 3, 10}), 0)
	require.InDelta(t, 6, measure.Differences([]float64{2, 9, 40}, []float64{1, 3, 10}), 0)
}

func TestRoundsMeasureEachThingOnceInAnotherOrderEachTime(t *testing.T) {
	var order []int
	all, err := measure.Rounds(20, 3, func(i int) (float64, error) {
		order = append(order, i)
		return float64(len(order)), nil
	})
	require.NoError(t, err)
	orders := map[[3]int]bool{}
	for round := range 20 {
		one := [3]int(order[3*round:])
		require.ElementsMatch(t, []int{0, 1, 2}, one[:])
		orders[one] = true
		for place, i := range one {
			require.InDelta(t, 3*round+place+1, all[i][round], 0)
		}
	}
	require.Greater(t, len(orders), 3)

	broken := errors.New("broken")
	_, err = measure.Rounds(1, 1, func(int) (float64, error) { return 0, broken })
	require.ErrorIs(t, err, broken)
}

func TestASampleTakesItsTime(t *testing.T) {
	start := time.Now()
	micros, err := measure.Sample(5*time.Millisecond, func() error {
		time.Sleep(time.Millisecond) // This is what is measured.
		return nil
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, micros, 1000.0)
	require.GreaterOrEqual(t, time.Since(start), 5*time.Millisecond)
}

func TestProcessorTimeGrowsWithWork(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux tells it")
	}
	before, sum := measure.CPU(), 0
	for measure.CPU()-before < 50*time.Millisecond { // until it is over, however busy the machine is
		for i := range 1_000_000 {
			sum += i
		}
	}
	require.NotZero(t, sum)
}
