package plan

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestDeeper(t *testing.T) {
	for _, test := range []struct {
		data string
		deep bool
	}{
		{`{"a":[[1]]}`, false},
		{`{"a":[[[1]]]}`, true},
		{`{"a":"[[[[[["}`, false},
		{`{"a":"\"[[[[[","b":"\\"}`, false},
		{`["\\",[[[`, true},
		{`"[[[[[[`, false},
		{`[][][][][][]`, false},
		{`]]]]]][[[[`, true},
	} {
		if got := Deeper([]byte(test.data), 3); got != test.deep {
			t.Errorf("%s: %v", test.data, got)
		}
	}
}

// What passes can be given to a reader that recurses; so it must hold for anything.
func FuzzDeeper(f *testing.F) {
	for _, seed := range []string{`{"a":[[1]]}`, `]]]][[[[[[[[`, `"\"[[[[[[[[`, strings.Repeat("[", 100), strings.Repeat(`{"a":`, 100)} {
		f.Add([]byte(seed))
	}
	const limit = 3
	f.Fuzz(func(t *testing.T, data []byte) {
		if !Deeper(data, limit) && gjson.ValidBytes(data) && depth(gjson.ParseBytes(data)) > limit {
			t.Errorf("%q is nested more deeply", data)
		}
	})
}

// depth is how deeply JSON is nested, by the reader that is to be spared.
func depth(v gjson.Result) (deepest int) {
	if !v.IsArray() && !v.IsObject() {
		return 0
	}
	v.ForEach(func(_, below gjson.Result) bool {
		deepest = max(deepest, depth(below))
		return true
	})
	return deepest + 1
}

func BenchmarkCheck(b *testing.B) {
	event := []byte(`{"id":"x","choices":[{"index":0,"delta":{"content":"tube"},"logprobs":null,"finish_reason":null}],"usage":null}`)
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		if Check(event) != nil {
			b.Fatal("it is flat")
		}
	}
}

// As many brackets as are let through, and one more.
func TestTheLimit(t *testing.T) {
	for n, want := range map[int]string{200: "", 201: "more than 200 brackets are open at once"} {
		text := ""
		if err := Check([]byte(strings.Repeat("[", n) + strings.Repeat("]", n))); err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%d: %q", n, text)
		}
	}
}
