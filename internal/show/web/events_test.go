package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// An eventReader reads the events of a stream.
type eventReader struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func readEvents(t *testing.T, c net.Conn, path string) *eventReader {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:7070\r\n\r\n", path)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/event-stream" {
		b, _ := io.ReadAll(r.Body)
		t.Fatalf("%d %v %s", r.StatusCode, r.Header, b)
	}
	return &eventReader{t, c, bufio.NewReader(r.Body)}
}

// next reads the next event into data, and says what it is.
func (e *eventReader) next(data any) (name string) {
	e.t.Helper()
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			e.t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(v), data); err != nil {
				e.t.Fatal(err, line)
			}
			return name
		}
	}
}

// changes are those of the next event, which must be of the list.
func (e *eventReader) changes() (c view.Changes) {
	e.t.Helper()
	if name := e.next(&c); name != "runs" {
		e.t.Errorf("event %s", name)
	}
	return c
}

func (e *eventReader) progress() (p view.Progress) {
	e.t.Helper()
	if name := e.next(&p); name != "progress" {
		e.t.Errorf("event %s", name)
	}
	return p
}

// A list is told what happens to runs within a second.
func TestChangesOfTheListAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		fill(t, s, 2)
		dial, _ := serving(t, (&Server{Runs: s}).Handler())
		c := dial()
		defer c.Close()
		e := readEvents(t, c, "/api/events")
		check := func(want view.Changes) {
			t.Helper()
			start := time.Now()
			got := e.changes()
			for _, list := range []*[]string{&want.Added, &want.Changed, &want.Removed, &want.Experiments} {
				if *list == nil {
					*list = []string{}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("told after %v", took)
			}
		}
		check(view.Changes{Stored: 2})
		run := filled(2)
		w, err := s.Create(run, store.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		check(view.Changes{Stored: 3, Added: []string{run.ID}})
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
		check(view.Changes{Stored: 3, Changed: []string{run.ID}})
		if _, err := s.Label(run.ID, func(l *trace.Labels) error {
			l.Remark = "x"
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		check(view.Changes{Stored: 3, Changed: []string{run.ID}})
		if err := s.Remove(run.ID); err != nil {
			t.Fatal(err)
		}
		check(view.Changes{Stored: 2, Removed: []string{run.ID}})
	})
}

// How a run goes is told at least every second, and its end within one.
func TestTheProgressOfARunIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		run := filled(1)
		var now atomic.Pointer[trace.Snapshot]
		now.Store(&trace.Snapshot{At: trace.Never})
		w, err := s.Create(run, store.Owner{Progress: func() trace.Snapshot { return *now.Load() }})
		if err != nil {
			t.Fatal(err)
		}
		dial, _ := serving(t, (&Server{Runs: s}).Handler())
		c := dial()
		defer c.Close()
		e := readEvents(t, c, "/api/events?run="+run.ID)
		first := e.progress()
		if want := (view.Progress{ID: run.ID, Status: "running", Requests: 2}); first != want {
			t.Errorf("%+v", first)
		}
		start := time.Now()
		if e.progress(); time.Since(start) > progressEvery+pollEvery {
			t.Errorf("nothing for %v", time.Since(start))
		}
		now.Store(&trace.Snapshot{At: trace.Instant(time.Second), Released: 5, Done: 2, Failed: 1, Tokens: 70})
		r := trace.NewRecord(0)
		r.Class = trace.Reset
		w.Append(r)
		start = time.Now()
		p := e.progress()
		for p.Records == 0 {
			p = e.progress()
		}
		if p.At == nil || *p.At != 1 || p.Released != 5 || p.Done != 2 || p.InFlight != 3 || p.Tokens != 70 || p.Failed != 1 || time.Since(start) > time.Second {
			t.Errorf("after %v: %+v", time.Since(start), p)
		}
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		for p.Status == "running" {
			p = e.progress()
		}
		if p.Status != "complete" || time.Since(start) > time.Second {
			t.Errorf("after %v: %+v", time.Since(start), p)
		}
		if err := s.Remove(run.ID); err != nil {
			t.Fatal(err)
		}
		if p := e.progress(); p.Status != "removed" {
			t.Errorf("%+v", p)
		}
	})
}

func TestAKilledRunIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		run := filled(1)
		run.Status = trace.Running
		if _, err := s.Import(run, nil, nil); err != nil { // nobody writes it
			t.Fatal(err)
		}
		dial, _ := serving(t, (&Server{Runs: s}).Handler())
		c := dial()
		defer c.Close()
		e := readEvents(t, c, "/api/events?run="+run.ID)
		start, p := time.Now(), e.progress()
		for p.Status == "running" {
			p = e.progress()
		}
		if p.Status != "killed" || time.Since(start) > 7*time.Second {
			t.Errorf("after %v: %+v", time.Since(start), p)
		}
	})
}

// One poll serves all streams, and there is none while nobody listens.
func TestNothingIsPolledWhileNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		fill(t, s, 2)
		server := &Server{Runs: s}
		polls := func() bool {
			server.live.mu.Lock()
			defer server.live.mu.Unlock()
			return server.live.stop != nil
		}
		dial, _ := serving(t, server.Handler())
		if polls() {
			t.Error("polled before anybody listened")
		}
		one, two := dial(), dial()
		a, b := readEvents(t, one, "/api/events"), readEvents(t, two, "/api/events")
		a.changes()
		b.changes()
		if !polls() {
			t.Error("not polled")
		}
		_ = one.Close()
		time.Sleep(2 * keepAliveEvery) // in virtual time: the server notices by what it cannot write
		if !polls() {
			t.Error("not polled for the second stream")
		}
		_ = two.Close()
		time.Sleep(2 * keepAliveEvery)
		if polls() {
			t.Error("polled although nobody listens")
		}
		again := dial()
		readEvents(t, again, "/api/events").changes()
		_ = again.Close()
	})
}

func TestStreamsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		dial, _ := serving(t, (&Server{Runs: s}).Handler())
		var open []net.Conn
		for range manyStreams {
			c := dial()
			readEvents(t, c, "/api/events")
			open = append(open, c)
		}
		c := dial()
		defer c.Close()
		if code, body := request(t, c, "/api/events"); code != http.StatusServiceUnavailable || !strings.Contains(body, "32 pages are open") {
			t.Errorf("%d %s", code, body)
		}
		if code, _ := request(t, c, "/api/hello"); code != http.StatusOK {
			t.Errorf("the page gets no other answer: %d", code)
		}
		for _, c := range open {
			_ = c.Close()
		}
	})
}

func TestStreamsOfRunsThatCannotBe(t *testing.T) {
	h, _ := guarded(t, Guard{Port: 7070}, false)
	for query, want := range map[string]int{"?run=nope": 404, "?run=" + strings.Repeat("a&run=", manyRuns) + "a": 400, "?run=" + strings.Repeat("x", 3000): 404} {
		if w := (ask{target: "/api/events" + query}).send(h); w.Code != want {
			t.Errorf("%.20s: %d %.200s", query, w.Code, w.Body)
		}
	}
}

// Who reads slowly gets what happened together, and holds nobody up.
func TestASlowListenerHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		dial, _ := serving(t, (&Server{Runs: s}).Handler())
		slow, quick := dial(), dial()
		defer slow.Close()
		defer quick.Close()
		a, b := readEvents(t, slow, "/api/events"), readEvents(t, quick, "/api/events")
		a.changes()
		b.changes()
		const n = 20
		for i := range n {
			if _, err := s.Import(filled(i), nil, nil); err != nil {
				t.Fatal(err)
			}
			seen := b.changes()
			for seen.Stored <= i {
				seen = b.changes()
			}
		}
		added, events := map[string]bool{}, 0
		for ; len(added) < n; events++ {
			for _, id := range a.changes().Added {
				added[id] = true
			}
		}
		if events > 3 {
			t.Errorf("%d events waited", events)
		}
	})
}

// A store that cannot be read at present is told once, and when it can be read again.
func TestTroubleWithTheStoreIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t)
		fill(t, s, 2)
		server := &Server{Runs: s, File: s.File()}
		dial, _ := serving(t, server.Handler())
		c := dial()
		defer c.Close()
		e := readEvents(t, c, "/api/events")
		e.changes()
		if err := os.Rename(s.File(), s.File()+".gone"); err != nil {
			t.Fatal(err)
		}
		var why string
		if name := e.next(&why); name != "trouble" || !strings.Contains(why, "runs.db") {
			t.Errorf("%s: %s", name, why)
		}
		time.Sleep(5 * time.Second) // in virtual time
		if err := os.Rename(s.File()+".gone", s.File()); err != nil {
			t.Fatal(err)
		}
		if got := e.changes(); got.Stored != 2 {
			t.Errorf("%+v", got)
		}
	})
}
