package cli

import (
	"cmp"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// lastOf runs a command line in virtual time and gives what it kept.
func lastOf(t *testing.T, store string, args ...string) *trace.Trace {
	t.Helper()
	v := newVirtual(t)
	v.store = store
	v.Args = append(args, "-q", "--store", v.store)
	if code := Run(v.Session); code != exitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, v.stderr.String())
	}
	return v.last(t)
}

// comparable are the records of a run in order, without what only a network
// gives: connections, stamps, and events that met in a read.
func comparable(tr *trace.Trace) []*trace.Record {
	for _, r := range tr.Records {
		_, r.ID, _ = strings.Cut(strings.TrimPrefix(r.ID, "pitot-"), "-")
		r.Dialed, r.Connected, r.Stamps = trace.Never, trace.Never, ""
		for i := range r.Chunks {
			r.Chunks[i].Kind &^= trace.Coalesced
		}
	}
	slices.SortFunc(tr.Records, func(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) })
	return tr.Records
}

// The same command line gives the same records, whether the embedded engine is
// measured over HTTP or simulated.
func TestSimEqualsBench(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	rows, chats, recorded, services := file("rows.jsonl"), file("chats.jsonl"), file("recorded.json"), file("service.csv")
	adapted, varying, sharing, recordings := file("adapted.yaml"), file("varying.yaml"), file("sharing.jsonl"), file("recordings.jsonl")
	lines := `{"prompt": "Which instrument tells how fast an aeroplane flies?", "output_tokens": 9}
{"prompt": [5, 6, 70000], "output_tokens": 3}
{"prompt": "a long answer", "output_tokens": 2000}
{"prompt": "and what the model likes to say", "output_tokens": 1200}
`
	talks := `{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello, ⟨you⟩ & \"them\""}], "output_tokens": 20}
{"messages": [{"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": "parts"}]}], "output_tokens": 1300}
`
	turns := `[{"conversations": [{"value": "what is a prefill and what is it not, please"}, {"value": "a short answer to that question"}]},
{"conversations": [{"value": "and now to something else altogether"}, {"value": "a second answer, which is longer than the first one was"}]}]`
	deployment := "title: t\nsource: s\nerror: illustrative\nmodel: {name: m, adapters: [sql, poems]}\nlora: {slots: 1}\nspeculative: {drafts: 2, acceptance: 0.6}\ncost: {step: 9ms, adapter: 300ms}\n"
	starts := "title: t\nsource: s\nerror: illustrative\ncost: {step: 9ms}\nanswers: {hazard: 1%, broken: 20%, right: 80%}\n"
	service := "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-20 09:00:01.2500000,370,41\n2023-11-20 09:00:02.5600000,396,9\n2023-11-20 09:00:02.8100000,870,5\n2023-11-20 09:00:04,100,0\n2023-11-20 09:00:08.1300000,1,16\n"
	shared := "{\"timestamp\": 0, \"input_length\": 120, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n{\"timestamp\": 900, \"input_length\": 150, \"output_length\": 6, \"hash_ids\": [0, 1, 3]}\n"
	spoken := `{"turns": [{"text": "What is a prefix cache?", "output_tokens": 12}, {"text": "And whose?", "think_ms": 700, "output_tokens": 8}, {"text": "Thanks", "delay": 100, "output_tokens": 3}]}
{"messages": [{"role": "system", "content": "You have tools."}, {"role": "user", "content": "How warm is it?"}, {"role": "assistant", "content": "I shall look."}, {"role": "tool", "content": "21 degrees", "tool_call_id": "x"}, {"role": "assistant", "content": "It is 21 degrees."}]}
`
	write(t, map[string]string{services: service, sharing: shared, recordings: spoken, rows: lines, chats: talks, recorded: turns, adapted: deployment, varying: starts})
	for _, args := range []string{
		"-n 40 --rate 20 --input-len 30 --input-range 0.5 --output-len 12 --output-range 0.9",
		"-n 30 -c 3 --input-len 20 --prefix-len 10 --output-len 8 --output-range 0.5 --tokenizer none",
		"-n 30 --rate 50 -c 2 --arrival gamma --burstiness 0.3 --output-len 5 --seed 7 --no-ignore-eos",
		"-n 20 --rate 10 --output-len 40 --no-ignore-eos --protocol chat",
		"-n 20 --rate 10 --output-len 40 --no-ignore-eos --protocol generate",
		"-n 20 -c 4 --output-len 4 --no-stream --protocol generate",
		"-n 9 --rate 20 --output-len 5 --protocol generate --profile " + adapted,
		"-n 20 -c 4 --output-len 4 --no-stream",
		"-n 12 -c 4 --output-len 4 --no-stream --protocol chat",
		"--duration 500ms --rate 40 -c 2 --output-len 9",
		"--duration 777ms -n 300 -c 3 --output-len 7",
		"--duration 9s --workload chat -n 60 -c 3 --hold --input-len 30 --output-len 7",
		"--duration 9s --workload chat -c 3 -n 60 --input-len 30 --output-len 7",
		"-n 6 -c 2 --workload random-mm --images 2 --image-sizes 64x32=0.5,100x100=0.5 --input-len 8 --output-len 3",
		"-n 20 --rate 10 --input-len 1000 --input-range 0.9 --output-len 5",
		"-n 9 --ramp linear:1..20 --workload custom --data " + rows,
		"-n 5 --tokenizer ../load/tokenizer/testdata/gpt2 --output-len 3",
		"-n 9 --workload sharegpt --data " + recorded,
		"-n 5 -c 1 --workload custom --protocol chat --data " + chats,
		"-n 60 --rate 4 --input-len 300 --prefix-len 100 --output-len 20 --profile small-chat",
		"-n 40 --rate 2 --input-range 0.5 --output-len 20 --protocol chat --no-ignore-eos --profile sharegpt",
		"-n 9 --rate 20 --output-len 5 --model poems --profile " + adapted,
		"-n 20 --rate 20 --output-len 300 --profile " + varying,
		"-n 20 --rate 20 --workload recall --input-len 200 --profile " + varying,
		"-n 20 --rate 20 --no-ignore-eos --protocol chat --profile " + varying,
		"-n 20 --rate 20 --output-len 20 --no-stream --profile " + varying,
		"-n 20 --rate 10 --input-len lognormal(60,0.7) --output-len uniform(2,9) --fit 90",
		"--workload trace --data " + services,
		"--workload trace --speed 3 --data " + services + " --profile small-chat",
		"--workload trace --block-len 50 --tokenizer none --data " + sharing + " --profile small-chat",
		"--workload chat -n 25 --rate 3 --input-len 30 --turn-len 9 --output-len uniform(3,12) --prefix-len 40",
		"--workload chat -n 25 --rate 3 --input-len 30 --output-len 7 --prefix-len 40 --protocol completions --profile small-chat",
		"--workload chat --conversations 7 -c 3 --input-len 30 --output-len 7 --no-stream",
		"--workload chat --conversations 7 -c 3 --hold --input-len 30 --output-len lognormal(7,0.3)",
		"--workload agent -n 40 -c 4 --input-len 100 --turn-len 20 --output-len 7",
		"--workload agent -n 30 --rate 2 --input-len 500 --output-len 7 --no-ignore-eos",
		"--workload conversations --rate 1.3 --data " + recordings + " --profile small-chat",
		"--workload conversations --protocol completions --history recorded --think 90ms --data " + recordings,
		"-n 30 --rate 6 --mix |weight=3 input-len=20 output-len=normal(9,2)| --mix |weight=1 workload=chat output-len=4| --profile small-chat",
		"-n 30 --tenant |name=a rate=6 input-len=20 output-len=9| --tenant |name=b rate=1 arrival=gamma burstiness=0.5 workload=agent output-len=4| --profile small-chat",
	} {
		if !strings.Contains(args, "--profile") {
			args += " --engine-ttft 50ms --engine-itl 10ms --engine-per-prompt-token 100us --engine-slots 5 --engine-max-model-len 1200 --engine-output-len uniform(1,30)"
		}
		for _, args := range []string{args, "--token-usage " + args} {
			if strings.HasPrefix(args, "--token-usage") && strings.Contains(args, "--no-stream") {
				continue // which has no usage of its own
			}
			t.Run(args, func(t *testing.T) {
				t.Parallel()
				simEqualsBench(t, quotedFields(args))
			})
		}
	}
}

// write writes files.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// quotedFields are the words of a command line, of which some have blanks, between bars.
func quotedFields(args string) (out []string) {
	for i, part := range strings.Split(args, "|") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

func simEqualsBench(t *testing.T, flags []string) {
	var measured *trace.Trace
	store := filepath.Join(t.TempDir(), "runs.db") // its key marks the answers of both
	synctest.Test(t, func(t *testing.T) {
		measured = lastOf(t, store, append([]string{"bench", "--warmup", "0", "--ready-timeout", "0", "--collect", "none"}, flags...)...)
	})
	simulated := lastOf(t, store, append([]string{"sim"}, flags...)...)
	if simulated.Run.MarkedBy == "" {
		for _, r := range measured.Records { // a simulation marks no answers that cannot vary
			r.Marks, r.Defects = "", 0
		}
	}
	if diff := gocmp.Diff(comparable(measured), comparable(simulated)); diff != "" {
		t.Error(diff)
	}
	if measured.Run.End != simulated.Run.End || simulated.Run.Kind != trace.Simulated || simulated.Run.Plan.URL != "" {
		t.Errorf("end %v and %v, kind %q, URL %q", measured.Run.End, simulated.Run.End, simulated.Run.Kind, simulated.Run.Plan.URL)
	}
	if len(simulated.Run.ServerCounters) < 3 {
		t.Errorf("counters %v", simulated.Run.ServerCounters)
	}
	for name, value := range simulated.Run.ServerCounters {
		if math.Abs(measured.Run.ServerCounters[name]-value) > 1e-9 { // sums of seconds
			t.Errorf("%s is %v, measured %v", name, value, measured.Run.ServerCounters[name])
		}
	}
	m, s := metrics.Summarize(measured, metrics.Options{}), metrics.Summarize(simulated, metrics.Options{})
	m.Run, s.Run, m.Health, s.Health, m.Setup, s.Setup = trace.Run{}, trace.Run{}, metrics.Health{}, metrics.Health{}, metrics.Distribution{}, metrics.Distribution{}
	if diff := gocmp.Diff(m, s); diff != "" {
		t.Error(diff)
	}
}

func TestAnInterruptEndsASimulation(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	v := newVirtual(t)
	v.Args = []string{"sim", "-n", "1000000", "--output-len", "1000", "--store", v.store}
	v.Signals = signals
	if code := Run(v.Session); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, v.stderr.String())
	}
}

// A sweep is interrupted wherever it is: here as soon as it listens.
func TestAnInterruptEndsASweep(t *testing.T) {
	signals := make(chan os.Signal)
	v := newVirtual(t)
	v.Args = []string{"sweep", "--rate", "1,2,3,4", "-n", "4000", "--store", v.store}
	v.Signals = signals
	ended := make(chan struct{})
	go func() {
		select {
		case signals <- os.Interrupt:
		case <-ended:
		}
	}()
	if code := Run(v.Session); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, v.stderr.String())
	}
	close(ended)
}

// An hour of 10 requests per second, from the command line to the report.
func BenchmarkSimHour(b *testing.B) {
	for b.Loop() {
		sess := &session.Session{
			Args: []string{
				"sim", "-q", "--store", filepath.Join(b.TempDir(), "runs.db"), "--rate", "10", "-n", "36000",
				"--ttft", "lognormal(50ms,0.2)", "--itl", "lognormal(10ms,0.3)",
			},
			Env: func(string) (string, bool) { return "", false }, Stdout: io.Discard, Stderr: os.Stderr, Signals: make(chan os.Signal),
		}
		if code := Run(sess); code != exitOK {
			b.Fatal(code)
		}
	}
}

// What computes for long ends soon, and a fit with what it has.
func TestAnInterruptEndsCheckAndFit(t *testing.T) {
	for command, told := range map[string]string{
		"profiles check sharegpt --draws 1000":                                    "sharegpt: ",
		"profiles fit sharegpt --field cost.step --draws 1000 --steps 1000000000": "\ncost.step                                   6.8ms        6.8ms\n",
	} {
		var stdout, stderr strings.Builder
		signals := make(chan os.Signal, 1)
		signals <- os.Interrupt
		sess := &session.Session{Args: strings.Fields(command), Env: func(string) (string, bool) { return "", false }, Stdout: &stdout, Stderr: &stderr, Signals: signals}
		if code := Run(sess); code != exitInterrupted || !strings.Contains(stdout.String(), told) || !strings.HasSuffix(stderr.String(), "pitot: interrupted\n") {
			t.Errorf("%s: exit code %d, %q, %q", command, code, stdout.String(), stderr.String())
		}
	}
}
