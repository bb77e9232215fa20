package inputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// full is a request that has something in every field.
func full() workload.Request {
	return workload.Request{
		ID: "id", Text: "text", Tokens: []int32{1, 2}, Batch: []string{"a", "b"}, Messages: json.RawMessage(`[]`), Parts: json.RawMessage(`[1]`),
		Media:        []workload.Media{{MIME: "image/png", Data: []byte("x"), URL: "http://u", Seconds: 1.5}},
		PromptTokens: 3, VisionTokens: 4, OutputTokens: 5, Model: "m", Extra: map[string]json.RawMessage{"k": json.RawMessage(`1`)},
		Header: map[string]string{"H": "v"}, At: 6, Tenant: "t",
		Turn:     workload.Turn{Session: "s", Number: 7, After: 0, Think: 9, Remember: true, Followed: true},
		Question: &grade.Question{ID: "q", Answer: "a", Choices: 4, Grader: grader("exact")},
	}
}

func grader(name string) grade.Grader {
	g, err := grade.New(name)
	if err != nil {
		panic(err)
	}
	return g
}

func digestOf(t testing.TB, requests []workload.Request, due ...time.Duration) string {
	t.Helper()
	d, err := Digest(workload.Listed(requests), slices.Values(due))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// changes calls do after each change of something in v, one at a time, with the name of it.
func changes(v reflect.Value, name string, do func(name string)) {
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	restore := func() { v.Set(before) }
	defer restore()
	if v.Type() == reflect.TypeFor[grade.Grader]() {
		v.Set(reflect.ValueOf(grader("number")))
		do(name)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.SetZero()
		do(name + " gone")
		own := reflect.New(before.Elem().Type())
		own.Elem().Set(before.Elem())
		v.Set(own)
		changes(own.Elem(), name, do)
	case reflect.Struct:
		for i := range v.NumField() {
			changes(v.Field(i), name+"."+v.Type().Field(i).Name, do)
		}
	case reflect.String:
		v.SetString(v.String() + "!")
		do(name)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
		do(name)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
		do(name)
	case reflect.Bool:
		v.SetBool(!v.Bool())
		do(name)
	case reflect.Slice:
		v.SetZero()
		do(name + " gone")
		if v.Type() != reflect.TypeFor[[]workload.Media]() { // whose number is all that counts
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			do(name + " empty")
		}
		own := reflect.MakeSlice(v.Type(), before.Len(), before.Len())
		reflect.Copy(own, before)
		v.Set(own)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.Index(0).SetUint(v.Index(0).Uint() + 1)
			do(name + " changed")
			return
		}
		changes(v.Index(0), name+"[0]", do)
	case reflect.Map:
		v.SetZero()
		do(name + " gone")
		v.Set(reflect.MakeMap(v.Type()))
		for at := before.MapRange(); at.Next(); {
			v.SetMapIndex(reflect.ValueOf(at.Key().String()+"!"), at.Value())
		}
		do(name + " renamed")
		v.Set(reflect.MakeMap(v.Type()))
		for at := before.MapRange(); at.Next(); {
			one := reflect.New(at.Value().Type()).Elem()
			one.Set(at.Value())
			changes(one, name+" value", func(name string) {
				v.SetMapIndex(at.Key(), one)
				do(name)
			})
		}
	case reflect.Func:
	default:
		do(name + " of a kind that this test does not know")
	}
}

// Each field of a request changes the digest, and no two changes give the same one. A field that
// is added to workload.Request fails here until the digest knows it, or this test that it need not.
func TestTheDigestKnowsEveryField(t *testing.T) {
	r := []workload.Request{full()}
	seen := map[string]string{digestOf(t, r, 1): "nothing"}
	alike := map[string]string{
		".Header value":        "nothing",             // a key of the worker's own
		".Media[0].Data empty": ".Media[0].Data gone", // no content either way
		".Extra value empty":   ".Extra value gone",   // no JSON either way
	}
	count := 0
	changes(reflect.ValueOf(&r[0]).Elem(), "", func(name string) {
		count++
		d := digestOf(t, r, 1)
		if other, same := seen[d]; same != (alike[name] != "") || same && other != alike[name] {
			t.Errorf("a change of %s gives the digest of %q", name, other)
		}
		if _, same := seen[d]; !same {
			seen[d] = name
		}
	})
	fields := len(reflect.VisibleFields(reflect.TypeFor[workload.Request]())) + reflect.TypeFor[workload.Media]().NumField()
	if count < fields {
		t.Errorf("%d changes of %d fields", count, fields)
	}
	if got := digestOf(t, r, 1); seen[got] != "nothing" {
		t.Errorf("the changes were not taken back: as %s", seen[got])
	}
}

// Values that border on each other, times and numbers of requests cannot be taken for others.
func TestTheDigestIsUnambiguous(t *testing.T) {
	text := func(parts ...string) (out []workload.Request) {
		for _, p := range parts {
			id, text, _ := strings.Cut(p, "|")
			out = append(out, workload.Request{ID: id, Text: text})
		}
		return out
	}
	after := text("a|x", "b|y")
	after[1].After = 1
	seen := map[string]int{}
	for i, d := range []string{
		digestOf(t, nil), digestOf(t, text("a|b")), digestOf(t, text("ab|")), digestOf(t, text("|ab")),
		digestOf(t, text("a|", "b|")), digestOf(t, text("a|x", "b|y")), digestOf(t, text("b|y", "a|x")),
		digestOf(t, text("a|x", "b|y"), 1, 2), digestOf(t, text("a|x", "b|y"), 2, 1), digestOf(t, text("a|x", "b|y"), 1), digestOf(t, after, 1),
		digestOf(t, text("a|"+strings.Repeat("x", 200_000))), digestOf(t, text("a|"+strings.Repeat("x", 199_999)+"y")),
	} {
		if other, same := seen[d]; same {
			t.Errorf("%d and %d have the same digest", i, other)
		}
		seen[d] = i
	}
	endless := func(yield func(time.Duration) bool) {
		for yield(5) {
		}
	}
	d, err := Digest(workload.Listed(after), endless)
	if err != nil || d != digestOf(t, after, 5, 6) {
		t.Errorf("%s, %v: only the request that waits for none has a time", d, err)
	}
}

// A spooled request has the digest of the same one in memory.
func TestTheDigestReadsSpooledRequests(t *testing.T) {
	one := []workload.Request{{ID: "a", Text: strings.Repeat("long ", 500)}, {ID: "b", Messages: json.RawMessage(`[{"role":"user"}]`), Media: []workload.Media{{MIME: "image/png", Data: []byte("data")}}}, {ID: "c", Tokens: []int32{4, 5}}}
	want := digestOf(t, one, 1, 2, 3)
	file, err := os.Create(t.TempDir() + "/spool")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	spool := workload.NewSpool(file, 0)
	for i := range one {
		if err := spool.Spill(&one[i]); err != nil {
			t.Fatal(err)
		}
		if one[i].Later == nil {
			t.Fatalf("request %d is in memory", i)
		}
	}
	if got := digestOf(t, one, 1, 2, 3); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	lost := errors.New("lost")
	one[1].Later = func(*workload.Request) error { return lost }
	if _, err := Digest(workload.Listed(one), nil); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

func BenchmarkDigest(b *testing.B) {
	small := make([]workload.Request, 10_000)
	for i := range small {
		small[i] = workload.Request{ID: fmt.Sprint("pitot-abcdefgh-", i), Text: "What is the capital of France?", PromptTokens: 7, OutputTokens: 128}
	}
	b.Run("small", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			digestOf(b, small)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(small)), "ns/request")
	})
	large := make([]workload.Request, 100)
	for i := range large {
		large[i] = workload.Request{ID: fmt.Sprint(i), Text: strings.Repeat("long text ", 100_000)}
	}
	b.Run("large", func(b *testing.B) {
		b.SetBytes(100 * 1_000_000)
		for range b.N {
			digestOf(b, large)
		}
	})
}
