package pyrand_test

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
)

// The draws of numpy.random.seed(0) followed by exponential and randint.
func ExampleLegacy() {
	r := pyrand.NewLegacy(0)
	fmt.Printf("%.9f %.9f %.9f\n", r.Exponential(1), r.Exponential(1), r.Exponential(1))

	r = pyrand.NewLegacy(0)
	for range 6 {
		fmt.Print(r.Randint(0, 50257), " ")
	}
	// Output:
	// 0.795874508 1.255930763 0.923223146
	// 2732 43567 42613 45891 21243 30403
}

// The lengths and offsets of five random prompts, from default_rng(0).
func ExampleGenerator() {
	g := pyrand.NewGenerator(0)
	draws := make([]int64, 5)
	for _, bounds := range [][2]int64{{512, 1537}, {64, 193}, {0, 151643}} {
		g.FillIntegers(draws, bounds[0], bounds[1])
		fmt.Println(draws)
	}
	// Output:
	// [1383 1164 1035 788 827]
	// [69 73 66 86 168]
	// [98479 138412 76371 91992 147206]
}

// The order of random.Random(0).shuffle(list(range(10))).
func ExampleRandom() {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	r := pyrand.NewRandom(0)
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	fmt.Println(items)
	// Output:
	// [7 8 1 5 3 4 2 0 9 6]
}
