package plot

import (
	"math"
	"slices"
	"strconv"

	gonum "gonum.org/v1/plot"
)

// roundTicks mark an axis at one, two and five times powers of ten.
func roundTicks(low, high float64, logarithmic bool) gonum.ConstantTicks {
	if logarithmic {
		return logTicks(low, high)
	}
	step := roundUp((high - low) / 8)
	var values []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		values = append(values, tidy(i*step)+0) // not -0
	}
	return marksAt(values...)
}

// fewTicks mark a low axis from 0.
func fewTicks(high float64) gonum.ConstantTicks {
	step := roundUp(high / 3)
	var values []float64
	for i := 0.0; i*step <= high*1.05; i++ {
		values = append(values, tidy(i*step))
	}
	return marksAt(values...)
}

// logTicks leaves out the twos and fives where there would be too many.
func logTicks(low, high float64) gonum.ConstantTicks {
	factors := []float64{1, 2, 5}
	if math.Log10(high/low) > 3.5 {
		factors = []float64{1}
	}
	var values []float64
	for d := math.Floor(math.Log10(low)); d <= math.Log10(high); d++ {
		for _, f := range factors {
			if v := tidy(f * math.Pow(10, d)); v >= low && v <= high {
				values = append(values, v)
			}
		}
	}
	return marksAt(values...)
}

// tidy takes off what arithmetic adds behind the digits that are meant.
func tidy(v float64) float64 {
	t, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return t
}

// marksAt are ticks with the numbers as they are.
func marksAt(values ...float64) (ticks gonum.ConstantTicks) {
	for _, v := range values {
		ticks = append(ticks, gonum.Tick{Value: v, Label: shortest(v)})
	}
	return ticks
}

// shortest is v without digits that say nothing.
func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// roundUp is the least of one, two and five times a power of ten that is not below v.
func roundUp(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	i := slices.IndexFunc([]float64{1, 2, 5, 10}, func(f float64) bool { return f*p >= v*(1-1e-9) })
	return []float64{1, 2, 5, 10}[i] * p
}
