package calibrate

import "testing"

// legOfSizes is a leg in whose steps so many streams run, of which two begin, while others wait.
func legOfSizes(sizes ...int) *steplog {
	l := &steplog{}
	for _, n := range sizes {
		l.steps = append(l.steps, step{decodes: n - 2, firsts: []int32{0, 0}, waiting: 1})
	}
	return l
}

func TestAPlateauIsALimit(t *testing.T) {
	rise := func(from, to, by int) (sizes []int) {
		for n := from; n < to; n += by {
			sizes = append(sizes, n)
		}
		return sizes
	}
	repeated := func(times int, sizes ...int) (all []int) {
		for range times {
			all = append(all, sizes...)
		}
		return all
	}
	for name, c := range map[string]struct {
		sizes []int
		want  int
	}{
		"often the most":             {append(rise(4, 100, 4), repeated(15, 90, 100, 85)...), 100},
		"nearly always nearly":       {append(rise(4, 100, 4), repeated(6, 99, 98, 100, 98)...), 100},
		"too short":                  {append(rise(4, 100, 4), 99, 98, 100, 98), 0},
		"comes and goes":             {append(rise(4, 100, 4), repeated(14, 100, 96, 92, 88, 92, 96)...), 0},
		"rises until nobody waits":   {rise(4, 101, 1), 0},
		"nobody begins or ends much": {append(rise(4, 100, 4), repeated(2, 99, 98, 99, 100, 98)...), 0},
	} {
		l := legOfSizes(c.sizes...)
		if got := sequences([]*steplog{l}, 100); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if l.Limit = 100; sequences([]*steplog{l}, 100) != 0 {
			t.Errorf("%s: the client's own limit is taken for the engine's", name)
		}
	}
}
