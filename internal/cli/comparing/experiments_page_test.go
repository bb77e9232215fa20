package comparing

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

const abFile = `version: 1
name: ab
variants:
  - {name: before, server: {command: "serve --port 8000", url: "http://127.0.0.1:8000"}}
  - {name: after, server: {command: "serve --fast --port 8000", url: "http://127.0.0.1:8000"}}
workloads:
  - {name: chat, command: bench -n 40 --rate 10}
design: {seed: 3, blocks: 2}
`

// underWay is an experiment of two blocks: a leg is done, one failed and is made again.
func underWay() *experiment.Journal {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	leg := func(position, slot, attempt int, variant string, s experiment.Status) *experiment.Leg {
		return &experiment.Leg{
			Variant: variant, Block: 1, Slot: slot, Ordinal: 1, Position: position, Attempt: attempt, Status: s, Took: time.Minute,
			Began: begin.Add(time.Duration(position-1) * time.Minute), ServerStart: position, Ready: 20 * time.Second,
		}
	}
	first, failed, again := leg(1, 1, 1, "before", experiment.Done), leg(2, 2, 1, "after", experiment.Failed), leg(3, 2, 2, "after", experiment.Running)
	first.Runs = []experiment.LegRun{{ID: "r1", Workload: "chat", Took: 30 * time.Second}}
	failed.Why, failed.Log = plan.Msg("experiment.server-died", "why", "exit \x1b[31mstatus 1"), "/tmp/ab/logs/leg-002-after.log"
	again.Took = 10 * time.Second
	return &experiment.Journal{
		Name: "ab", File: abFile, Folder: "/tmp/ab", Started: begin, Owner: experiment.Owner{Host: "elsewhere", PID: 1, Birth: "1"},
		Status: experiment.Running, Spent: 3 * time.Minute, Legs: []*experiment.Leg{first, failed, again},
	}
}

func TestExperimentForThePage(t *testing.T) {
	live := map[int][]view.LegRun{3: {{ID: "r3", Workload: "chat", Running: true}}}
	e := newExperimentPage(underWay(), words.In("en")).answer(live, time.Unix(1_800_000_000, 0))
	if r := e.Row; r.Done != 1 || r.Planned != 8 || r.Failed != 1 || r.AtMost || r.State != "under way" || r.Same || strings.Join(r.Variants, " ") != "before after" {
		t.Errorf("%+v", r)
	}
	var strip []string
	for _, b := range e.Blocks {
		row := ""
		for _, l := range b.Legs {
			row += l.Letter + map[string]string{"done": "+", "failed": "!", "running": "*", "planned": "."}[l.Status]
		}
		strip = append(strip, row)
	}
	if got := strings.Join(strip, " "); got != "A+B!B*B.A. B.A.A.B." {
		t.Error(got)
	}
	failed, again := e.Blocks[0].Legs[1], e.Blocks[0].Legs[2]
	if strings.ContainsRune(failed.Why, '\x1b') || !strings.Contains(failed.Why, "status 1") || failed.Log == "" || failed.Server != "ready in 20s" {
		t.Errorf("%+v", failed)
	}
	if len(again.Runs) != 1 || !again.Runs[0].Running || again.Attempt != 2 {
		t.Errorf("%+v", again)
	}
	if e.Left == nil || *e.Left != 7*60-10 || !e.Verdict || e.Most != 0 {
		t.Errorf("%v left, %+v", e.Left, e)
	}
	var said []string
	for _, l := range e.Log {
		said = append(said, l.Text)
	}
	if log := strings.Join(said, "\n"); !strings.Contains(log, "leg 1 of 8 · block 1 · before\nserver ready after 20s\nchat: run r1, 30s\nleg 2 of 8") || !strings.Contains(log, "leg failed") || !strings.Contains(log, "leg 2 of 8, second try") {
		t.Error(log)
	}
	if e.Sides[1].Letter != "B" || !strings.Contains(e.Sides[1].What, "--fast") || !strings.Contains(e.Method[0].Value, "ABBA BAAB") {
		t.Errorf("%+v, %+v", e.Sides, e.Method)
	}
	if e.Commands[0].Dialect != "again" || e.Commands[0].Line != "pitot experiment run /tmp/ab/experiment.yaml --name ab-2" {
		t.Errorf("%+v", e.Commands)
	}
}

// An experiment that has ended has no legs to come; one that was killed goes on by a command, and
// one whose file cannot be read has its legs all the same.
func TestEndsOfExperiments(t *testing.T) {
	done := underWay()
	done.Status, done.Ended, done.Looks, done.Legs = experiment.Done, plan.Msg("experiment.ended-verdict", "blocks", 2), compare.Looks{Done: 2, Most: 8}, done.Legs[:1]
	if e := newExperimentPage(done, words.In("zh")).answer(nil, time.Time{}); e.Row.Planned != 1 || e.Left != nil || e.Most != 8 || e.Looks != 2 || e.Ended == "" || len(e.Commands) != 1 {
		t.Errorf("%+v", e)
	}
	killed := underWay()
	killed.Status = experiment.Interrupted
	killed.Abandon()
	if e := newExperimentPage(killed, words.In("en")).answer(nil, time.Time{}); e.Commands[0].Line != "pitot experiment resume ab" || e.Blocks[0].Legs[2].Status != "interrupted" || e.Row.Planned != 8 || e.Left != nil {
		t.Errorf("%+v", e)
	}
	unread := underWay()
	unread.File = "version: 99"
	if e := newExperimentPage(unread, words.In("en")).answer(nil, time.Time{}); len(e.Blocks) != 1 || e.Blocks[0].Legs[0].Letter != "?" || e.Row.Planned != 2 || e.Row.Same || e.Method != nil {
		t.Errorf("%+v", e)
	}
}

// stored is a store with the experiment.
func stored(t *testing.T, j *experiment.Journal) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, body := range map[string]any{j.Name: j, "bad": "no journal"} {
		b, err := json.Marshal(body)
		if err == nil {
			err = s.CreateExperiment(store.Experiment{Name: name, Status: "running", Started: j.Started, Body: b})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestStoredExperiments(t *testing.T) {
	s := stored(t, underWay())
	all, err := Answers(s, words.In("en"))
	if err != nil || len(all.Rows) != 1 || len(all.Damaged) != 1 || !strings.Contains(all.Damaged[0], "experiment bad") {
		t.Errorf("%+v, %v", all, err)
	}
	run := trace.Run{ID: "r3", Status: trace.Running, Started: time.Now(), Leg: &trace.Leg{Experiment: "ab", Variant: "after", Workload: "chat", Position: 3}}
	w, err := s.Create(run, store.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Finish(run) }()
	e, err := Answer(s, "ab", words.In("en"))
	if err != nil || len(e.Blocks[0].Legs[2].Runs) != 1 || e.Blocks[0].Legs[2].Runs[0] != (view.LegRun{ID: "r3", Workload: "chat", Running: true}) {
		t.Errorf("%+v, %v", e.Blocks, err)
	}
	for _, name := range []string{"bad", "none"} {
		if _, err := Answer(s, name, words.In("en")); err == nil || name == "none" && !errors.Is(err, store.ErrNoExperiment) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The end of a log is read, and no file that is none, whatever a store says.
func TestLogsOfServers(t *testing.T) {
	dir := t.TempDir()
	j := underWay()
	j.Folder = dir
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	secret := write("id_rsa", "private")
	link := filepath.Join(dir, "logs", "leg-003-after.log")
	j.Legs[0].Log = write("logs/leg-001-before.log", strings.Repeat("x", endOfLog)+"\nready --api-key sk-abcdefgh12345\n")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	j.Legs[2].Log = link
	s := stored(t, j)
	text, err := Log(s, "ab", 1)
	if err != nil || len(text) > endOfLog || !strings.Contains(text, "ready") || strings.Contains(text, "abcdefgh") {
		t.Errorf("%d bytes, %v: %s", len(text), err, text[max(0, len(text)-40):])
	}
	for i, file := range []string{secret, filepath.Join(dir, "logs", "..", "id_rsa"), write("leg-002-after.log", "not there"), "", "/dev/zero"} {
		other := *j
		other.Name = "other" + string(rune('a'+i))
		leg := *j.Legs[1]
		leg.Log = file
		other.Legs = []*experiment.Leg{j.Legs[0], &leg, j.Legs[2]}
		if text, err := Log(stored(t, &other), other.Name, 2); !errors.Is(err, fs.ErrNotExist) || text != "" {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	for _, leg := range []int{0, 3, 4} {
		if text, err := Log(s, "ab", leg); !errors.Is(err, ErrNoLog) {
			t.Errorf("leg %d: %q, %v", leg, text, err)
		}
	}
}
