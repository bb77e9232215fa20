package live

import "testing"

func is(v float64) *float64 { return &v }

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		course []*float64
		width  int
		most   float64
		want   string
	}{
		{nil, 8, 0, ""},
		{[]*float64{is(0), is(0)}, 8, 0, "▁▁"},
		{[]*float64{is(0), nil, is(7), is(3.5)}, 8, 0, "▁ █▅"},
		{[]*float64{is(9), is(0), is(2), is(6), is(10)}, 3, 0, "█▂▇"}, // 9; 0 and 2; 6 and 10
		{[]*float64{is(0.5), is(2)}, 8, 1, "▅█"},
		{[]*float64{nil, nil}, 1, 0, " "},
		{[]*float64{is(1)}, 0, 0, ""},
	} {
		if got := (Paper{}).Spark(c.course, c.width, c.most); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.width, got, c.want)
		}
	}
}
