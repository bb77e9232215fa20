package bus

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/test/natsserver"
)

func TestDecode(t *testing.T) {
	type value struct{ N int }
	for _, test := range []struct{ data, want string }{
		{`{"N":1}`, ""},
		{` {"N":1} ` + "\n", ""},
		{`{"N":1,"M":2}`, `unknown field "M"`},
		{`{"N":1} {"N":2}`, "more than one value"},
		{`{"N":1`, "unexpected EOF"},
		{``, "EOF"},
		{`{"N":"` + strings.Repeat("x", 2000) + `"}`, "more than 1000"},
		{strings.Repeat("[", 300), "brackets"},
	} {
		var v value
		err := decode([]byte(test.data), 1000, &v)
		if test.want == "" && (err != nil || v.N != 1) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%.40q: %v, want %q", test.data, err, test.want)
		}
	}
}

// Versions that differ must be able to say so.
func TestVersionsRecognizeEachOther(t *testing.T) {
	var q fleet.Question
	if err := decode([]byte(`{"protocol":9,"pitot":"v9","later":{"x":[1]}}`), 1000, &q); err != nil || q.Pitot != "v9" {
		t.Errorf("question: %+v, %v", q, err)
	}
	var w fleet.Worker
	if err := decode([]byte(`{"id":"w","protocol":9,"later":true}`), 1000, &w); err != nil || w.Protocol != 9 {
		t.Errorf("worker: %+v, %v", w, err)
	}
	var b fleet.Beat
	if err := decode([]byte(`{"run":"r","later":true}`), 1000, &b); err == nil {
		t.Error("a beat with an unknown field was accepted")
	}
}

func FuzzDecode(f *testing.F) {
	for _, message := range []any{fleet.Order{Run: "r"}, fleet.Pulse{}, fleet.Worker{ID: "w"}, fleet.Readiness{Needs: []int{1}}} {
		data, err := json.Marshal(message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(strings.Repeat(`{"spec":`, 250)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p fleet.Pulse
		if decode(data, 1<<16, &p) != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back fleet.Pulse
		if err := decode(again, 1<<20, &back); err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%+v came back as %+v, %v", p, back, err)
		}
	})
}

func TestSubjects(t *testing.T) {
	for id, ok := range map[string]bool{"a1-B_2": true, "": false, "a b": false, "*": false, ">": false, "a\r\nPUB x": false, "ü": false, strings.Repeat("x", 300): false} {
		if err := checkSubject(SubjectOf(id, Beat)); (err == nil) != ok {
			t.Errorf("%.20q: %v", id, err)
		} else if err != nil && strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%q: not a line", err)
		}
	}
}

// What a hostile peer replies is limited and cleaned.
func TestRepliesThatAreNotValid(t *testing.T) {
	s := natsserver.Start(t, natsserver.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	logged := make(chan string, 10)
	b, err := Connect(ctx, Options{URL: s.URL(), Log: func(line string) { logged <- line }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	refusal := nats.NewMsg("")
	refusal.Header.Set(errorHeader, "1")
	refusal.Data = []byte("\x1b[2J" + strings.Repeat("no\n", 100_000))
	big := &nats.Msg{Data: []byte(`{"id":"` + strings.Repeat("x", largestAnswer) + `"}`)}
	for _, test := range []struct {
		reply *nats.Msg
		want  string
	}{
		{&nats.Msg{Data: []byte("\x1b]0;\a{")}, "invalid character"},
		{&nats.Msg{Data: []byte(strings.Repeat(`{"wall":`, 100_000))}, "brackets"},
		{big, "more than 1048576"},
		{refusal, "no no"},
	} {
		sub, err := b.conn.Subscribe("pitot.test", func(m *nats.Msg) {
			test.reply.Subject = m.Reply
			if err := b.conn.PublishMsg(test.reply); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Request[fleet.Worker](ctx, b, "pitot.test", fleet.Question{})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\x1b\a\n") || len(err.Error()) > 2*longest {
			t.Errorf("ask: %q, want %q", err, test.want)
		}
		line := ""
		for err = nil; line == "" && err == nil; { // on a busy machine a reply comes too late
			err = RequestAll(ctx, b, "pitot.test", fleet.Question{}, 50*time.Millisecond, func(fleet.Worker) bool { t.Error("it was accepted"); return false })
			select {
			case line = <-logged:
			default:
			}
		}
		if err != nil || !strings.Contains(line, test.want) {
			t.Errorf("ask all: %v, said %q, want %q", err, line, test.want)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuestionsThatAreTooLarge(t *testing.T) {
	s := natsserver.Start(t, natsserver.Options{MaxPayload: 4096})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	b, err := Connect(ctx, Options{URL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = Request[fleet.Worker](ctx, b, SubjectOf("w", Order), strings.Repeat("x", 5000))
	if want := "pitot.worker.w.order: the message has 5002 bytes and the NATS server takes 4096; raise max_payload in its settings"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Request[fleet.Worker](ctx, b, SubjectOf("w", Order), make(chan int)); err == nil {
		t.Error("a channel was sent")
	}
	end, err := Answer(b, SubjectOf("w", Poll), func(struct{}) (any, error) { return strings.Repeat("x", largestAnswer), nil })
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	_, err = Request[string](ctx, b, SubjectOf("w", Poll), struct{}{})
	if refusal := (Refusal{}); !errors.As(err, &refusal) || !strings.Contains(refusal.Text, "the reply has 1048578 bytes") {
		t.Errorf("a reply that is too large: %v", err)
	}
}
