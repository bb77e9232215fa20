package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A transport is one of the ways in which the program speaks HTTP.
type transport struct {
	name  string
	flags []string
	own   func() []hostile // answers that are wrong in its bytes
}

var transports = []transport{
	{"h1", []string{"--client", "h1"}, http1},
	{"nethttp", []string{"--client", "nethttp"}, http1},
	{"http2", []string{"--http2"}, frames2},
}

// table is what the transport carries, and what is wrong in its bytes.
func (by transport) table() []hostile { return append(slices.Clip(answers()), by.own()...) }

// Every answer of the table, alone: in the short form those of which a run has just one.
func TestHostile(t *testing.T) {
	t.Parallel()
	for n, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			list := by.table()
			if len(list) < 88 {
				t.Errorf("%d hostile answers, want at least 88", len(list))
			}
			for i, h := range list {
				if !*long && (h.route == "" || i%len(transports) != n) {
					continue
				}
				t.Run(h.name, func(t *testing.T) {
					t.Parallel()
					face(t, t.Name(), by, []hostile{h})
				})
			}
		})
	}
}

// Answers of the table together in one run, all at the same time. If that breaks a
// promise, each is tried alone, to find the one that did it.
func TestHostileTogether(t *testing.T) {
	t.Parallel()
	for n, by := range transports {
		for i, group := range groups(by.table(), 32) {
			if !*long && i%len(transports) != n {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", by.name, i), func(t *testing.T) {
				t.Parallel()
				faults, o := suffer(t, by, group, hurried)
				if len(faults) == 0 {
					return
				}
				found := false
				for _, h := range group {
					found = !face(t, fmt.Sprintf("TestHostile/%s/%s", by.name, h.name), by, []hostile{h}) || found
				}
				if !found {
					report(t, t.Name(), o, faults)
				}
			})
		}
	}
}

// groups puts answers that one run can have into groups of at most n.
func groups(list []hostile, n int) (groups [][]hostile) {
	open := map[string]int{}
	for _, h := range list {
		if h.route != "" {
			continue
		}
		key := fmt.Sprint(h.args, h.reply.frames != nil)
		at, ok := open[key]
		if !ok || len(groups[at]) == n {
			at = len(groups)
			open[key], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], h)
	}
	return groups
}

// face runs the program against answers, and reports what it finds under a name. A request that only took too long is
// sent again in the short form, with limits that a busy machine does not reach either.
func face(t *testing.T, name string, by transport, list []hostile) bool {
	t.Helper()
	faults, o := suffer(t, by, list, hurried)
	late := func(fault string) bool { return strings.Contains(fault, `has class "timeout", want ok`) }
	if len(faults) > 0 && !*long && !slices.ContainsFunc(faults, func(f string) bool { return !late(f) }) {
		faults, o = suffer(t, by, list, []string{"--timeout", "60s", "--idle-timeout", "30s"})
	}
	return report(t, name, o, faults)
}

// suffer runs the program against answers, of which request i gets the i-th, within limits of time, looks at
// what it has kept, and returns the promises that were broken.
func suffer(t *testing.T, by transport, list []hostile, limits []string) (faults []string, o outcome) {
	t.Helper()
	p := newPlace(t)
	first := list[0]
	s := serve(t, first.reply.frames != nil, func(r request) reply {
		switch {
		case first.route != "" && r.path == first.route:
			return first.reply
		case first.route == "" && r.index >= 0 && r.index < len(list) && r.method == "POST":
			return list[r.index].reply
		}
		return kind(r)
	})
	args := append([]string{
		"bench", "-q", "--url", s.url, "--warmup", "0", "--ready-timeout", "0", "--output-len", "8", "--input-len", "4",
		"-n", fmt.Sprint(len(list)), "-c", fmt.Sprint(len(list)), "--new-connections", "--name", "hostile",
	}, by.flags...)
	if first.route != "/v1/models" {
		args = append(args, "--model", "m")
	}
	if first.route != "/tokenize" {
		args = append(args, "--tokenizer", "none")
	}
	args = append(append(args, limits...), first.args...)
	o = p.start(t, child{args: args, wall: limit(first.route)}).wait()
	faults = o.faults([]int{0, 1, 3})
	if o.code != 1 || strings.Contains(o.out, "requests") {
		faults = append(faults, p.kept(t, list)...)
	}
	return append(faults, p.leaks()...), o
}

// limit is the time that a run may take whose answers come at this route.
func limit(route string) time.Duration {
	if route == "" {
		return 3*time.Second + 2*time.Second + overrun
	}
	return 20 * time.Second
}

// kind is the answer of a server that means well.
func kind(r request) reply {
	switch {
	case r.path == "/v1/models":
		return reply{kind: "application/json", body: text(`{"object":"list","data":[{"id":"m","object":"model"}]}`)}
	case r.method == "POST" && r.path != "/tokenize":
		return reply{body: usage(`{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}`)}
	}
	return reply{status: 404, kind: "application/json", body: text(`{"detail":"Not Found"}`)}
}

// A record is what a test looks at of an exported one.
type record struct {
	Index  int     `json:"index"`
	Class  string  `json:"class"`
	Sent   float64 `json:"sent_ns"`
	Done   float64 `json:"done_ns"`
	Output float64 `json:"output_tokens"`
	Want   float64 `json:"want_tokens"`
	Chunks counted `json:"chunk_at_ns"`
}

// counted is the length of an array of numbers: a test that kept millions of them would
// spoil the memory that is measured.
type counted int

func (c *counted) UnmarshalJSON(b []byte) error {
	if len(b) > 2 {
		*c = counted(1 + bytes.Count(b, []byte(",")))
	}
	return nil
}

// kept looks at a stored run by every command that shows it, and at its records: in the short form by one alone where
// the records have nothing hostile.
func (p *place) kept(t *testing.T, list []hostile) (faults []string) {
	t.Helper()
	shown := [][]string{{"runs", "show", "last"}, {"runs", "list"}, {"runs", "report", "--dialect", either("vllm", "sglang")}}
	if !*long && list[0].route != "" {
		shown = shown[:1]
	}
	for _, args := range shown {
		for _, fault := range p.run(t, args...).faults([]int{0, 1, 3}) {
			faults = append(faults, args[1]+": "+fault)
		}
	}
	records, err := p.records(t)
	if err != nil {
		return append(faults, err.Error())
	}
	if len(records) != len(list) {
		faults = append(faults, fmt.Sprintf("%d of %d requests have a record", len(records), len(list)))
	}
	for _, r := range records {
		if r.Index < len(list) {
			faults = append(faults, r.faults(list[r.Index])...)
		}
	}
	return faults
}

// records are those of the last run.
func (p *place) records(t *testing.T) (records []record, err error) {
	t.Helper()
	o := p.run(t, "runs", "export", "last", "-f", "jsonl", "-o", p.path("export.jsonl"))
	if o.code != 0 {
		return nil, fmt.Errorf("export: %w: %s", o.ended, short(o.err, 200))
	}
	file, err := os.Open(p.path("export.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	for d := json.NewDecoder(file); ; {
		var r record
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF):
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("export: %w", err)
		}
		records = append(records, r)
	}
}

// faults are what cannot be in the record of an answer.
func (r record) faults(h hostile) (faults []string) {
	if ok := r.Class == ""; h.ends != "" && ok != (h.ends == "ok") {
		faults = append(faults, fmt.Sprintf("%s: the request has class %q, want %s", h.name, r.Class, h.ends))
	}
	const held = 100 // tokens that the texts of hostile answers can hold, at most
	if r.Output < 0 || r.Output > max(r.Want, float64(r.Chunks), held) {
		faults = append(faults, fmt.Sprintf("%s: %g tokens in %d chunks, %g were asked for", h.name, r.Output, r.Chunks, r.Want))
	}
	if took := time.Duration(r.Done - r.Sent); took > 5*time.Second*patience() {
		faults = append(faults, fmt.Sprintf("%s: the exchange took %.1f s of at most 3 and 2", h.name, took.Seconds()))
	}
	return faults
}
