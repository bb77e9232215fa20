package transport

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type gotEvent struct {
	Data      string
	At        int64
	Coalesced bool
}

// readAt is the stamp of the n-th read, at instant n.
func readAt(n int) Stamp { return Stamp{At: int64(n), Seq: uint64(n)} }

// feed gives each read the instant of its number, from 1.
func feed(reads ...string) (got []gotEvent, broken bool, err error) {
	var e Events
	yield := func(ev Event) error {
		got = append(got, gotEvent{string(ev.Data), ev.Stamp.At, ev.Coalesced})
		return nil
	}
	for i, r := range reads {
		if err := e.Feed([]byte(r), readAt(i+1), yield); err != nil {
			return got, false, err
		}
	}
	done := func(data []byte) bool { return string(data) == "[DONE]" }
	broken, err = e.End(readAt(len(reads)+1), done, yield)
	return got, broken, err
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reads  []string
		want   []gotEvent
		broken bool
	}{
		{"one event", []string{"data: a\n\n"}, []gotEvent{{"a", 1, false}}, false},
		{"no blank after the colon", []string{"data:a\n\n"}, []gotEvent{{"a", 1, false}}, false},
		{"only one blank is taken", []string{"data:  a\n\n"}, []gotEvent{{" a", 1, false}}, false},
		{"CRLF", []string{"data: a\r\n\r\ndata: b\r\n\r\n"}, []gotEvent{{"a", 1, false}, {"b", 1, true}}, false},
		{"CR", []string{"data: a\r\rdata: b\r\r"}, []gotEvent{{"a", 1, false}, {"b", 1, true}}, false},
		{"CRLF split between reads", []string{"data: a\r", "\n\r", "\n"}, []gotEvent{{"a", 1, false}}, false},
		{"split anywhere", []string{"da", "ta", ": ", "a", "b\n", "\n"}, []gotEvent{{"ab", 5, false}}, false},
		{"instant of the data line, not of the empty one", []string{"data: a\n", "\n"}, []gotEvent{{"a", 1, false}}, false},
		{
			"two reads, two instants",
			[]string{"data: a\n\n", "data: b\n\n"},
			[]gotEvent{{"a", 1, false}, {"b", 2, false}},
			false,
		},
		{"data over several lines", []string{"data: a\ndata\ndata: b\n\n"}, []gotEvent{{"a\n\nb", 1, false}}, false},
		{
			"several lines over several reads",
			[]string{"data: a\n", "data: b", "c\n", "\n"},
			[]gotEvent{{"a\nbc", 3, false}},
			false,
		},
		{
			"comments and other fields",
			[]string{": ping\n\nevent: x\nid: 3\nretry: 10\ndata: a\n: c\n\n"},
			[]gotEvent{{"a", 1, false}},
			false,
		},
		{"a field that only begins like data", []string{"database: x\n\ndata: a\n\n"}, []gotEvent{{"a", 1, false}}, false},
		{"byte order mark", []string{"\xef\xbb\xbfdata: a\n\n"}, []gotEvent{{"a", 1, false}}, false},
		{"empty data is an event", []string{"data:\n\n"}, []gotEvent{{"", 1, false}}, false},
		{"last empty line missing", []string{"data: a\n"}, []gotEvent{{"a", 1, false}}, false},
		{
			"end marker without any line end",
			[]string{"data: a\n\n", "data: [DONE]"},
			[]gotEvent{{"a", 1, false}, {"[DONE]", 3, false}},
			false,
		},
		{"broken off within a line", []string{"data: a\n\ndata: {\"cho"}, []gotEvent{{"a", 1, false}}, true},
		{"nothing", nil, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, broken, err := feed(tt.reads...)
			if err != nil || broken != tt.broken {
				t.Errorf("broken %v, error %v; want %v, nil", broken, err, tt.broken)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEventsHaveTheirNames(t *testing.T) {
	var e Events
	var got []string
	yield := func(ev Event) error { got = append(got, string(ev.Name)+"/"+string(ev.Data)); return nil }
	for _, read := range []string{
		"event: a\ndata: 1\n\ndata: 2\n\n", "event: b\nev", "ent: c\ndata: 3\n\n", "event: d\n\ndata: 4\n\n",
	} {
		if err := e.Feed([]byte(read), readAt(1), yield); err != nil {
			t.Fatal(err)
		}
	}
	if want := "a/1 /2 c/3 /4"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Errors come as events of that name, also where they stand in no data.
func TestErrorsAreEvents(t *testing.T) {
	for _, tt := range []struct{ stream, want string }{
		{"event: error\ndata: a\n\n", "error/a"},
		{"event: error\n: a\n\n", "error/ a"},
		{": a\nevent: Error\n\n", "Error/ a"},
		{"event: error\n\n", "error/"},
		{"event: upstream_exception\n\n", "upstream_exception/"},
		{"error: a\n\n", "error/a"},
		{`{"error":"a"}` + "\n\n", `error/{"error":"a"}`},
		{": " + strings.Repeat("long ", 1000) + "\nevent: error\n\n", "error/ " + strings.Repeat("long ", 1000)[:maxComments-1]},
		{": a\n\nevent: ping\n\ndata: b\n\n", "/b"},
		{"errors: a\n\n{\"choices\":[]}\n\ndata: b\n\n", "/b"},
	} {
		var e Events
		var got []string
		err := e.Feed([]byte(tt.stream), readAt(1), func(ev Event) error {
			got = append(got, string(ev.Name)+"/"+string(ev.Data))
			return nil
		})
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%.40q: %.60q, want %.60q (%v)", tt.stream, got, tt.want, err)
		}
	}
}

// An event that begins with a comment is marked, and fields are counted apart from comments.
func TestCommentsAndFields(t *testing.T) {
	var e Events
	var got []bool
	stream := ":\ndata: a\n\ndata: b\n: c\n\n: c\n\nid: 1\ndata: c\n\nevent: x\n\n"
	if err := e.Feed([]byte(stream), readAt(1),
		func(ev Event) error { got = append(got, ev.Commented); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, false, false}; !slices.Equal(got, want) || e.OtherLines() != 5 || e.Fields() != 2 {
		t.Errorf("%v, want %v, %d asides, %d fields", got, want, e.OtherLines(), e.Fields())
	}
}

func TestEventsStopAtTheFirstError(t *testing.T) {
	var e Events
	calls := 0
	stop := errors.New("stop")
	err := e.Feed([]byte("data: a\n\ndata: b\n\n"), readAt(1), func(Event) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}

func TestEventTooLarge(t *testing.T) {
	var e Events
	part := []byte(strings.Repeat("x", 1<<20))
	var err error
	for range 65 {
		if err = e.Feed(part, readAt(1), nil); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrEventTooLarge) {
		t.Errorf("error %v, want ErrEventTooLarge", err)
	}
}

// Of a comment nothing is kept, however long it is, and it breaks no event.
func TestCommentsAreNotHeld(t *testing.T) {
	e := Events{Limit: 64}
	var got []string
	yield := func(ev Event) error {
		got = append(got, string(ev.Data))
		return nil
	}
	for _, p := range []string{
		"data: a\n", ":", strings.Repeat("data: x", 1000), "\n", "data: b\n\n:", " c\r\ndata: d\n\n",
	} {
		if err := e.Feed([]byte(p), readAt(1), yield); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"a\nb", "d"}; !slices.Equal(got, want) || e.OtherLines() != 2 || e.Buffered() > 64 {
		t.Errorf("events %q, %d asides, %d bytes held", got, e.OtherLines(), e.Buffered())
	}
}

func TestEventsInOneReadDoNotAllocate(t *testing.T) {
	var e Events
	p := []byte(`data: {"id":"cmpl-1","choices":[{"index":0,"text":" the"}]}` + "\n\n")
	n := testing.AllocsPerRun(100, func() {
		_ = e.Feed(p, readAt(1), func(Event) error { return nil })
	})
	if n != 0 {
		t.Errorf("%v allocations for an event, want 0", n)
	}
}

// The boundaries of reads must not change the events.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\n: c\r\ndata: b\r\n\r\ndata: [DONE]\n\n", uint16(3), uint16(7))
	f.Add("\xef\xbb\xbfdata\r\rdata:x\n\ndata: y", uint16(1), uint16(1))
	f.Add("data: a\ndata: b\n", uint16(9), uint16(2))
	f.Fuzz(func(t *testing.T, s string, a, b uint16) {
		whole, brokenWhole, errWhole := feed(s)
		i := int(a) % (len(s) + 1)
		j := i + int(b)%(len(s)-i+1)
		parts, brokenParts, errParts := feed(s[:i], s[i:j], s[j:])
		bytewise, brokenBytes, errBytes := feed(strings.Split(s, "")...)
		if errWhole != nil || errParts != nil || errBytes != nil {
			t.Fatal(errWhole, errParts, errBytes)
		}
		if brokenWhole != brokenParts || brokenWhole != brokenBytes {
			t.Fatalf("broken: %v whole, %v in parts, %v bytewise", brokenWhole, brokenParts, brokenBytes)
		}
		if w, p, y := texts(whole), texts(parts), texts(bytewise); !slices.Equal(w, p) || !slices.Equal(w, y) {
			t.Fatalf("whole %q\nparts %q\nbytewise %q", w, p, y)
		}
	})
}

func texts(events []gotEvent) (s []string) {
	for _, e := range events {
		s = append(s, e.Data)
	}
	return s
}

func BenchmarkEvents(b *testing.B) {
	event := fmt.Appendf(nil,
		`data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":" the",`+
			`"logprobs":null,"finish_reason":null}]}`+"\n\n")
	var e Events
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		_ = e.Feed(event, readAt(1), func(Event) error { return nil })
	}
}

func ExampleEvents() {
	var e Events
	show := func(ev Event) error {
		fmt.Printf("%d: %s (coalesced: %v)\n", ev.Stamp.At, ev.Data, ev.Coalesced)
		return nil
	}
	_ = e.Feed([]byte("data: one\n\nda"), Stamp{At: 10, Seq: 1}, show)
	_ = e.Feed([]byte("ta: two\n\ndata: three\n\n"), Stamp{At: 20, Seq: 2}, show)
	// Output:
	// 10: one (coalesced: false)
	// 20: two (coalesced: false)
	// 20: three (coalesced: true)
}
