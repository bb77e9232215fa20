package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// key is that of a tenant. Only controllers have it.
const key = "sk-of-a-tenant"

// A load is one that any number of machines send alike.
type load struct {
	name  string
	args  []string
	limit int // of requests in flight; 0: none
	short bool
}

func loads() []load {
	return []load{
		{name: "open, of a mix", short: true, args: []string{
			"--rate", "40", "-n", "60", "--mix", "weight=0.6 input-len=40 output-len=6", "--mix", "weight=0.4 input-len=20 prefix-len=5 output-len=4",
		}},
		{name: "closed, of a file", short: true, limit: 7, args: []string{"--workload", "sharegpt", "--data", "shared.json", "-n", "84", "-c", "7"}},
		{name: "tenants with a key", short: true, args: []string{
			"-n", "40", "--tenant", "name=a rate=25 input-len=30 output-len=5 api-key-env=TENANT_KEY", "--tenant", "name=b rate=15 workload=agent turns=2 think=10ms input-len=20 turn-len=8 output-len=4",
		}},
		{name: "Poisson", args: []string{"-n", "150", "--rate", "60", "--input-len", "uniform(20,80)", "--output-len", "uniform(2,9)"}},
		{name: "conversations", args: []string{"--workload", "chat", "--conversations", "30", "--turns", "uniform(2,5)", "--think", "30ms", "--rate", "15", "--input-len", "20", "--output-len", "5"}},
		{name: "closed", limit: 16, args: []string{"-n", "160", "-c", "16", "--input-len", "30", "--output-len", "10"}},
		{name: "closed conversations", limit: 9, args: []string{"--workload", "chat", "--conversations", "27", "--turns", "3", "--think", "20ms", "-c", "9", "--hold", "--input-len", "20", "--output-len", "5"}},
	}
}

// One machine without a fleet and fleets of several workers send the same requests: the same ids, headers
// and bodies, of conversations with the answers in them.
func TestWorkersSendTheSame(t *testing.T) {
	sizes := []int{3}
	if *long {
		sizes = []int{2, 4, 8}
	}
	for _, l := range loads() {
		if !l.short && !*long {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			if !*long {
				t.Parallel()
			}
			sameLoad(t, l, sizes)
		})
	}
}

func sameLoad(t *testing.T, l load, sizes []int) {
	server := record(t, 20*time.Millisecond, 4*time.Millisecond)
	p := newPlace(t)
	p.up()
	for i := range slices.Max(sizes) {
		p.worker(fmt.Sprintf("w%d", i))
	}
	p.cwd, p.vars = filepath.Join(p.dir, "desk"), []string{"TENANT_KEY=" + key} // of the controller alone
	writeConversations(t, p.cwd, 60)
	copyTokenizer(t, p.cwd)
	args := append([]string{"--url", server.url, "--tokenizer", "tokenizer.json", "--warmup", "0", "--ready-timeout", "0", "--collect", "none", "--seed", "7"}, l.args...)
	p.ends(p.start("plain", append([]string{"bench"}, args...)...))
	alone, _ := server.take()
	want := withoutRun(t, p.stored(), alone)
	if len(want) < 30 || l.name == "tenants with a key" && !strings.Contains(fmt.Sprint(alone), "Bearer "+key) {
		t.Fatalf("%d requests:\n%.1000v", len(want), alone)
	}
	for _, n := range sizes {
		p.ends(p.bench(append([]string{"--workers", fmt.Sprint(n)}, args...)...))
		requests, peak := server.take()
		run := p.stored()
		if diff := cmp.Diff(want, withoutRun(t, run, requests), cmp.AllowUnexported(sent{})); diff != "" {
			t.Errorf("%d workers send something else:\n%.3000s", n, diff)
		}
		workers := n
		if l.limit > 0 {
			workers = min(n, l.limit) // each has a place
		}
		if len(requests) != len(run.Records) || len(run.Run.Fleet.Workers) != workers {
			t.Errorf("%d workers: %d requests came, %d records of %d workers", n, len(requests), len(run.Records), len(run.Run.Fleet.Workers))
		}
		if l.limit > 0 && (peak > l.limit || peak < l.limit-1) {
			t.Errorf("%d workers: %d requests at once, the limit is %d", n, peak, l.limit)
		}
		for i, w := range run.Run.Fleet.Workers {
			if w.Records != w.Requests || w.Requests == 0 {
				t.Errorf("%d workers: worker %d has %d records of %d requests", n, i, w.Records, w.Requests)
			}
		}
	}
}

// ends waits until a process has ended well.
func (p *place) ends(c *process) {
	p.t.Helper()
	if code := c.wait(); code != 0 {
		p.t.Fatalf("%s: exit code %d:\n%s%s", c.name, code, c.out, c.errs)
	}
}

// withoutRun are the requests by id, without what is the run's own: the beginning of the ids.
func withoutRun(t *testing.T, r *trace.Trace, all []sent) map[string]sent {
	t.Helper()
	prefix := r.Run.Plan.Spec.Request.IDs
	out := map[string]sent{}
	for _, s := range all {
		id, ok := strings.CutPrefix(s.id, prefix)
		if _, twice := out[id]; twice || !ok || prefix == "" {
			t.Errorf("request %q of run %q, which is there already: %v\n%s %s", s.id, prefix, twice, s.path, s.body)
		}
		s.id, s.header = id, maps.Clone(s.header)
		s.header.Set("X-Request-Id", id)
		s.body = strings.ReplaceAll(s.body, prefix, "")
		out[id] = s
	}
	return out
}

// writeConversations writes a file like ShareGPT's.
func writeConversations(t *testing.T, folder string, n int) {
	t.Helper()
	type turn struct {
		From  string `json:"from"`
		Value string `json:"value"`
	}
	type conversation struct {
		ID            string `json:"id"`
		Conversations []turn `json:"conversations"`
	}
	var all []conversation
	for i := range n {
		question, answer := strings.Repeat(fmt.Sprintf("word%d and ", i), 6+i%5), strings.Repeat("so it is ", 4+i%7)
		all = append(all, conversation{fmt.Sprint("c", i), []turn{{"human", question}, {"gpt", answer}}})
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "shared.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyTokenizer copies a small tokenizer into a folder.
func copyTokenizer(t *testing.T, folder string) {
	t.Helper()
	b, err := os.ReadFile("../../load/tokenizer/testdata/gpt2/tokenizer.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "tokenizer.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
