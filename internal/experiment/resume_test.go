package experiment

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// stored is a journal of two legs, as JSON that a test may change.
func stored(t *testing.T, change func(j, first map[string]any)) []byte {
	t.Helper()
	b, err := json.Marshal(&Journal{
		Name: "x", Folder: "/x", Owner: Owner{Host: "h", PID: 2, Birth: "b"}, Status: Interrupted, Legs: []*Leg{
			{Variant: "a", Block: 1, Slot: 1, Ordinal: 1, Position: 1, Status: Done, Runs: []LegRun{{ID: "r"}}},
			{Variant: "b", Block: 1, Slot: 2, Ordinal: 1, Position: 2, Status: Running},
		},
	})
	var all map[string]any
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(all, all["legs"].([]any)[0].(map[string]any))
	if b, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	return b
}

// A journal that somebody has edited is refused by the first field that cannot be, and never
// brings Pitot down.
func TestReadJournal(t *testing.T) {
	if j, err := ReadJournal(stored(t, func(_, _ map[string]any) {})); err != nil || len(j.Legs) != 2 {
		t.Fatalf("%+v, %v", j, err)
	}
	for want, change := range map[string]func(j, first map[string]any){
		`status: is missing`:                       func(j, _ map[string]any) { delete(j, "status") },
		`folder: is no absolute path`:              func(j, _ map[string]any) { j["folder"] = "x" },
		`owner.pid 0: must be positive`:            func(j, _ map[string]any) { j["owner"] = nil },
		`looks.most 9999: must be at most 1000`:    func(j, _ map[string]any) { j["looks"] = map[string]any{"Most": 9999, "most": 9999} },
		`legs[0]: is empty`:                        func(j, _ map[string]any) { j["legs"] = []any{nil} },
		`legs: must not be of type string`:         func(j, _ map[string]any) { j["legs"] = "none" },
		`legs[0].variant: is missing`:              func(_, l map[string]any) { l["variant"] = "" },
		`legs[0].status "gone": unknown name`:      func(_, l map[string]any) { l["status"] = "gone" },
		`legs[0].slot -1: must be at least 1`:      func(_, l map[string]any) { l["slot"] = -1 },
		`legs[0].position 7: must be 1`:            func(_, l map[string]any) { l["position"] = 7 },
		`legs[0].server_start 3: must be at most`:  func(_, l map[string]any) { l["server_start"] = 3 },
		`legs[0].took -1ns: must not be negative`:  func(_, l map[string]any) { l["took"] = -1 },
		`legs[0].runs[0].id: is missing`:           func(_, l map[string]any) { l["runs"] = []any{map[string]any{}} },
		`legs[0].block 1001: must be at most 1000`: func(_, l map[string]any) { l["block"] = 1001 },
	} {
		if _, err := ReadJournal(stored(t, change)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{"", "null", "[]", "{", `{"legs":[null]}`, `{"legs":{}}`, "\x00"} {
		if _, err := ReadJournal([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"name":"x","folder":"/x","status":"done","owner":{"pid":1},"legs":[{"variant":"a","block":1,"slot":1,"ordinal":1,"position":1,"status":"running"}]}`))
	p, _ := newPlan(design.Design{Blocks: 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := ReadJournal(b)
		if err != nil {
			return
		}
		j.Abandon()
		_, _ = j.BlockTime(), p.Fits(j)
		if len(j.With(Running)) > 0 || j.Status == Running {
			t.Error("it runs")
		}
	})
}

// Legs that are none of the file's were not made by it.
func TestFits(t *testing.T) {
	p, j := newPlan(design.Design{Blocks: 2})
	one := variantsOf(p.Design, 1)
	j.Legs = []*Leg{{Variant: one[0], Block: 1, Slot: 1, Position: 1}, {Variant: "c", Block: 3, Slot: 1, Position: 2, Confirms: true}}
	if err := p.Fits(j); err != nil {
		t.Error(err)
	}
	for _, change := range []func(l *Leg){func(l *Leg) { l.Variant = "z" }, func(l *Leg) { l.Slot = 5 }, func(l *Leg) { l.Variant = map[string]string{"a": "b", "b": "a"}[one[0]] }} {
		leg := *j.Legs[0]
		change(&leg)
		if err := p.Fits(&Journal{Legs: []*Leg{&leg}}); err == nil {
			t.Errorf("%+v fits", leg)
		}
	}
}

// A leg of which a run was removed is made again.
func TestALegWithoutItsRunIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p, j := newPlan(design.Design{Blocks: 2})
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		gone, err := j.Without(func(id string) (bool, error) { return id != "run-2" && id != "run-8", nil })
		if err != nil || len(gone) != 2 || gone[0].Position != 2 || gone[1].Why.Code != runRemoved {
			t.Fatalf("%+v, %v", gone, err)
		}
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		if made := j.Legs[8:]; len(j.With(Done)) != 8 || made[0].turn() != gone[0].turn() || made[1].turn() != gone[1].turn() {
			t.Errorf("%q", statuses(j))
		}
		if _, err := j.Without(func(string) (bool, error) { return false, errors.New("no store") }); err == nil {
			t.Error("an error is lost")
		}
	})
}

// An interrupt while it is judged leaves an experiment that goes on with the judgement.
func TestAnInterruptedJudgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p, j := newPlan(design.Design{Blocks: 2})
		stop := make(chan struct{})
		d := l.deps()
		observed := d.Observed
		d.Observed = func(legs []*Leg) ([]compare.ComparedRun, error) {
			close(stop)
			return observed(legs)
		}
		if _, err := Run(t.Context(), stop, p, j, d); !errors.Is(err, ErrInterrupted) || j.Status != Interrupted || len(j.With(Done)) != 8 {
			t.Fatalf("%v: %s, %q", err, j.Status, statuses(j))
		}
		if out, err := Run(t.Context(), nil, p, j, l.deps()); err != nil || out == nil || len(j.Legs) != 8 {
			t.Errorf("%v: %q", err, statuses(j))
		}
	})
}

const (
	withSecrets = `name: x
server:
  command: serve --api-key Zq7xW4vN9bTk
  env: {HF_TOKEN: pL8sK2mD5cXw, PLAIN: text}
  url: http://127.0.0.1:1
variants: [{name: a}, {name: b}]
workloads: ["bench --header X-Api-Key=uY6tR3eW1qAz -n 5"]
`
)

// Secrets are in no journal. To go on they are put back into the file, and nothing else.
func TestSecretsArePutBack(t *testing.T) {
	e, _, err := design.Read("x.yaml", []byte(withSecrets))
	if err != nil {
		t.Fatal(err)
	}
	secrets := new(secret.Set)
	AddSecrets(secrets, e)
	j := &Journal{Name: "x"}
	if err := j.Write(e, secrets); err != nil || !j.Withheld {
		t.Fatalf("%v: withheld %v", err, j.Withheld)
	}
	hidden := []string{"Zq7xW4vN9bTk", "pL8sK2mD5cXw", "uY6tR3eW1qAz"}
	for _, s := range hidden {
		if strings.Contains(j.File, s) || e.Server.Command == "" || !strings.Contains(e.Server.Command, hidden[0]) {
			t.Errorf("%s is in %s, or not in %s", s, j.File, e.Server.Command)
		}
	}
	var withheld *WithheldError
	whole := j.File
	for i, s := range hidden {
		for _, given := range [][]byte{nil, []byte(whole)} {
			if _, _, err := j.Read("f", given); !errors.As(err, &withheld) || !strings.Contains(err.Error(), "put them into f") {
				t.Errorf("with %d secrets: %v", i, err)
			}
		}
		at := []string{"--api-key ***", "HF_TOKEN: '***'", "X-Api-Key=***"}[i]
		if !strings.Contains(whole, at) {
			t.Fatalf("no %s in %s", at, whole)
		}
		whole = strings.Replace(whole, at, strings.NewReplacer("'***'", s, "***", s).Replace(at), 1)
	}
	got, _, err := j.Read("f", []byte(whole))
	if err != nil || got.Server.Command != e.Server.Command || got.Server.Env["HF_TOKEN"] != hidden[1] {
		t.Errorf("%+v, %v", got, err)
	}
	for was, is := range map[string]string{"PLAIN: text": "PLAIN: texts", "-n 5": "-n 6", "name: b": "name: c", "serve --api": "serve2 --api"} {
		if _, _, err := j.Read("f", []byte(strings.Replace(whole, was, is, 1))); err == nil || !strings.Contains(err.Error(), "differs from what the experiment began with") {
			t.Errorf("%s: %v", is, err)
		}
	}
	if _, _, err := j.Read("f", []byte("a: [")); err == nil {
		t.Error("a file that is none is read")
	}
}

// Without secrets the kept file is the one that counts, whatever is in the folder.
func TestTheKeptFileCounts(t *testing.T) {
	text := strings.NewReplacer(" --api-key Zq7xW4vN9bTk", "", "HF_TOKEN: pL8sK2mD5cXw, ", "", " --header X-Api-Key=uY6tR3eW1qAz", "").Replace(withSecrets)
	e, _, err := design.Read("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	j := &Journal{Name: "x"}
	if err := j.Write(e, new(secret.Set)); err != nil || j.Withheld {
		t.Fatalf("%v: withheld %v", err, j.Withheld)
	}
	if got, _, err := j.Read("f", []byte("name: y")); err != nil || got.Name != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What can be a secret in an experiment is known before any of it is kept or shown.
func TestLearn(t *testing.T) {
	e := &design.Experiment{
		Server:   design.ServerSetup{Env: map[string]string{"HF_TOKEN": "aaa1bbb2ccc3"}},
		Variants: []design.Variant{{Server: design.ServerSetup{Command: "API_KEY=ddd1eee2fff3 serve"}, Flags: "--api-key ggg1hhh2iii3", Settings: json.RawMessage(`{"target":{"headers":[{"name":"X-Key","value":"jjj1kkk2lll3"}]}}`)}},
		Matrix:   &design.Matrix{Server: design.ServerSetup{Options: "--env TOKEN=mmm1nnn2ooo3"}, Flags: "--token=ppp1qqq2rrr3"},
		Workloads: []design.Workload{
			{Command: "bench --header 'Authorization=Bearer sss1ttt2uuu3'"},
			{Spec: json.RawMessage(`{"target":{"headers":[{"name":"Cookie","value":"vvv1www2xxx3"}]}}`)},
			{Command: "bench --api-key 'yyy1zzz2aaa3"}, // which no shell would read
		},
	}
	secrets := new(secret.Set)
	AddSecrets(secrets, e)
	all := "aaa1bbb2ccc3 ddd1eee2fff3 ggg1hhh2iii3 jjj1kkk2lll3 mmm1nnn2ooo3 ppp1qqq2rrr3 sss1ttt2uuu3 vvv1www2xxx3 yyy1zzz2aaa3"
	if got := strings.Fields(secrets.Hide(all)); !slices.Equal(got, slices.Repeat([]string{secret.Mark}, 9)) {
		t.Errorf("%q", got)
	}
	if got := secrets.Hide("serve bench --env --header"); got != "serve bench --env --header" {
		t.Errorf("%q is hidden, which is no secret", got)
	}
}
