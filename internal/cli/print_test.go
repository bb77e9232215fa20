package cli

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// hostile clears a screen, sets a title, turns text around and begins a line of its own.
const hostile = "evil\nINJECTED\x1b[2J\x1b]0;title\a\r\u009b31m\u202e\u2066\u2028\x7f\xffend"

// poison puts hostile text into every string of a value that others may set.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			v.SetString(hostile)
		}
	case reflect.Pointer:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Struct:
		if m, ok := v.Addr().Interface().(*plan.Message); ok {
			*m = plan.Msg("server-ready", "why", hostile, "name", hostile, "names", []string{hostile})
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() != reflect.Uint8 && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() {
			v.Set(reflect.ValueOf(map[string]string{hostile: hostile}))
		}
	}
}

// poisoned is a run with hostile text in all its fields; an imported one has an origin.
func poisoned(id string, imported bool) (trace.Run, []*trace.Record) {
	var run trace.Run
	poison(reflect.ValueOf(&run).Elem())
	run.ID, run.Kind, run.Status, run.End = id, trace.Measured, trace.Complete, trace.Instant(2e9)
	run.Plan.Dialect, run.Plan.Protocol, run.Plan.Requests, run.Plan.Spec = "pitot", "completions", 2, nil
	run.Plan.Objectives, run.Plan.Percentiles, run.Probes, run.Leg = nil, []float64{99}, nil, nil
	run.Verdict.Validity, run.Notes = trace.Valid, []plan.Message{plan.Text(hostile), plan.Msg(hostile, "x", hostile)}
	run.ServerCounters = map[string]float64{hostile: 1}
	if imported {
		run.Kind, run.Origin.Tool, run.Origin.Detail = trace.Imported, "guidellm", trace.Summed
		run.Origin.Figures = []trace.ReportedFigure{{Name: "ttft.mean", Value: 1}}
		return run, nil
	}
	run.Origin = nil
	var records []*trace.Record
	for i := range 2 {
		r := trace.NewRecord(i)
		poison(reflect.ValueOf(r).Elem())
		r.Index, r.Due, r.Released, r.Sent, r.FirstByte, r.Done = i, 0, 0, 0, trace.Instant(1e8), trace.Instant(3e8)
		r.Chunks, r.OutputTokens, r.Usage.At = []trace.Chunk{{At: 1e8, Kind: trace.Text}, {At: 2e8, Kind: trace.Text}}, 2, trace.Never
		if i == 1 {
			r.Class = trace.HTTP
		} else {
			r.Class = ""
		}
		records = append(records, r)
	}
	return run, records
}

// painted is what Pitot itself writes for a terminal.
var painted = regexp.MustCompile("\x1b\\[(?:0|1|2|31|32)m")

// unclean is the first character of a text that a terminal would obey, or the first line
// that somebody else began; empty if there is none.
func unclean(text string) string {
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u2028' || unicode.Is(unicode.Bidi_Control, r)) || r == utf8.RuneError && text[i] >= 0xf8 {
			return text[max(0, i-40):min(len(text), i+20)]
		}
	}
	if i := strings.Index("\n"+text, "\nINJECTED"); i >= 0 {
		return text[max(0, i-40):min(len(text), i+20)]
	}
	return ""
}

// printers is a command line for each command, or more; none: it prints nothing of others
// that another one does not.
var printers = map[string][]string{
	"bench":             {"bench --url URL --tokenizer none -n 4 --rate 1000 --report pitot,vllm,sglang,json --name EVIL", "bench --url URL --tokenizer EVIL -n 1", "bench --config EVIL", "bench --config bad.yaml", "bench --url EVIL", "bench --nothing EVIL"},
	"sim":               {"sim -n 2 --name EVIL", "sim --profile EVIL"},
	"serve":             {"serve --addr EVIL", "serve --profile EVIL", "serve --model EVIL --api-key-env EVIL"},
	"vllm":              {"vllm bench serve --base-url URL --num-prompts 4 --random-input-len 4 --random-output-len 2 --metadata a=EVIL", "vllm EVIL", "vllm bench serve --EVIL", "vllm bench sweep EVIL", "vllm bench sweep serve --EVIL", "vllm bench sweep serve --serve-cmd EVIL --bench-cmd EVIL", "vllm bench sweep serve --serve-cmd vllm --bench-cmd vllm --serve-params EVIL"},
	"sglang":            {"sglang bench_serving --backend sglang-oai --base-url URL --num-prompts 4 --dataset-name random-ids --random-input-len 4 --random-output-len 2 --tag EVIL"},
	"python":            {"python -m EVIL", "python -m sglang.bench_serving --EVIL"},
	"runs list":         {"runs list", "runs list -f ttft.p99", "runs list -f EVIL", "runs list --store EVIL", "runs list --json", "runs list EVIL", "runs list --since EVIL", "runs list --kind EVIL"},
	"runs show":         {"runs show measured", "runs show imported", "runs show EVIL"},
	"runs report":       {"runs report measured", "runs report --dialect vllm measured", "runs report --dialect sglang measured", "runs report --dialect json measured", "runs report imported"},
	"runs export":       {"runs export measured", "runs export -f jsonl measured", "runs export -f csv measured", "runs export -o EVIL/x measured", "runs export --summary", "runs export --summary -f csv *", "runs export --summary -f jsonl measured", "runs export EVIL*"},
	"runs answers":      {"runs answers measured measured", "runs answers measured measured --request 0", "runs answers EVIL measured"},
	"runs diff":         {"runs diff measured imported", "runs diff -f json measured imported", "runs diff EVIL measured"},
	"env":               {"env", "env EVIL", "env --url EVIL", "env docker:EVIL", "env --url http://127.0.0.1:1"},
	"runs check":        {"runs check", "runs check --store EVIL"},
	"runs repair":       {"runs repair --store EVIL", "runs repair"},
	"runs tag":          {"runs tag EVIL", "runs tag measured EVIL", "runs tag measured +EVIL --remark EVIL", "runs tag measured --remark x", "runs tag EVIL* +x"},
	"ui":                {"ui --listen EVIL", "ui --host EVIL", "ui --listen EVIL:0", "ui --listen 127.0.0.1:0 --tls-cert EVIL --tls-key EVIL"},
	"runs rm":           {"runs rm EVIL", "runs rm *", "runs rm EVIL*"},
	"compare":           {"compare measured imported", "compare -f markdown measured imported", "compare -f json measured imported", "compare -f csv measured imported", "compare -f html measured imported", "compare EVIL EVIL2", "compare other.json measured"},
	"ab":                {"ab --before profile:EVIL --same -- sim", "ab --before EVIL", "ab --before flags:EVIL --after flags:-n --name x -- sim", "ab --before profile:small-chat --same --name EVIL -- sim -n 2"},
	"experiment run":    {"experiment run EVIL", "experiment run bad.yaml"},
	"experiment status": {"experiment status", "experiment status EVIL", "experiment status poisoned", "experiment status --json"},
	"experiment resume": {"experiment resume EVIL", "experiment resume poisoned", "experiment resume poisoned"},
	"calibrate":         {"calibrate measured imported", "calibrate EVIL", "calibrate *", "calibrate --url EVIL", "calibrate --url URL -- --tokenizer none --EVIL"},
	"sweep":             {"sweep --concurrency 1,2 -n 2 --name EVIL", "sweep --rate EVIL", "sweep --rate 1,2 --set EVIL=1,2", "sweep --rate 1,2 --resume EVIL", "sweep --rate 1,2 --link EVIL", "sweep --url URL --tokenizer none -n 2 --concurrency 1,2 --name EVIL2", "sweep --model EVIL --concurrency 1,2 -n 2 -f json"},
	"capacity":          {"capacity --slo EVIL", "capacity --slo ttft.p99=1s --resume EVIL", "capacity --slo ttft.p99=1s --profile EVIL", "capacity --slo ttft.p99=1us --no-model --name EVIL", "capacity --url URL --slo ttft.p99=1s -- EVIL"},
	"predict":           {"predict small-chat --replay measured", "predict bad.yaml", "predict EVIL", "predict small-chat --set EVIL", "predict small-chat --set EVIL=EVIL", "predict small-chat --slo EVIL", "predict small-chat --replay EVIL", "predict small-chat --config EVIL", "predict titled.yaml -n 2 --set kv.tokens=90000,EVIL", "predict titled.yaml -n 2"},
	"fleet up":          {"fleet up --listen EVIL", "fleet up --local -1", "fleet up --ca EVIL --tls-cert EVIL --tls-key EVIL"},
	"fleet worker":      {"fleet worker --join EVIL", "fleet worker --join nats://EVIL@h:1 --name EVIL", "fleet worker --join nats://h:1 --capacity EVIL", "fleet worker --join nats://h:1 --creds EVIL"},
	"fleet status":      {"fleet status --join EVIL", "fleet status --join nats://h:1 --ca EVIL"},
	"fleet resume":      {"fleet resume EVIL --join EVIL"},
	"fleet manifests":   {"fleet manifests --image EVIL", "fleet manifests --image x --name EVIL"},
	"note":              {"note measured imported -o EVIL.md", "note EVIL"},
	"import":            {"import other.json", "import -n notes.md", "import EVIL"},
	"conform run":       {"conform run --client EVIL"},
	"conform report":    {"conform report EVIL"},
	"plan":              {"plan measured", "plan -- bench --name EVIL", "plan EVIL", "plan -- EVIL"},
	"profiles show":     {"profiles show bad.yaml", "profiles show EVIL"},
	"profiles list":     {"profiles list"}, "profiles check": {"profiles check EVIL"}, "profiles fit": {"profiles fit EVIL"},
	"watch":  {"watch URL --for 2s", "watch URL --for 2s -f json", "watch EVIL", "watch URL --collect EVIL", "watch --collect host@EVIL", "watch URL --collect http://EVIL/x --for 2s", "watch URL/EVIL --for 2s"},
	"doctor": nil, "version": {"version"}, "completion": {"completion zsh", "completion EVIL"}, "complete": {"complete runs show EVIL", "complete plan EVIL"}, "keep-log": {"keep-log EVIL"}, "man": nil,
}

// Whatever names, messages, answers and files have in them: what a terminal gets of any
// command is printable text, and every line is one that Pitot began.
func TestNothingHostileReachesATerminal(t *testing.T) {
	race.Skip(t)
	t.Chdir(t.TempDir())
	makePoisonedStore(t)
	notes := "# " + strings.ReplaceAll(hostile, "\n", " ") + "\nTTFT -3%\n"
	for name, text := range map[string]string{"bad.yaml": "url: " + hostile + "\n", hostile: "x: \x1b[2J\n", "notes.md": notes, "other.json": `{"version": "` + "\x1b[2J" + `"`, "titled.yaml": "title: \"\\e[2J\\u202eevil\"\nsource: x\nerror: illustrative\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		network := memnet.Listen()
		server := &http.Server{Handler: &parrot{said: hostile, watch: func() {}}}
		go func() { _ = server.Serve(network) }()
		defer server.Close()
		for _, command := range commandNames(t) {
			lines, ok := printers[command]
			if !ok {
				t.Errorf("no command line tries `pitot %s`", command)
			}
			for _, line := range lines {
				var stdout, stderr bytes.Buffer
				sess := &session.Session{
					Stdout: &stdout, Stderr: &stderr, Columns: func() int { return 100 }, Signals: make(chan os.Signal), Dial: network.Dial, Listen: net.Listen,
					Env: func(name string) (string, bool) {
						return map[string]string{"PITOT_STORE": "runs.db", "HOME": "."}[name], name == "PITOT_STORE" || name == "HOME"
					},
				}
				for word := range strings.FieldsSeq(line) {
					sess.Args = append(sess.Args, strings.NewReplacer("EVIL", hostile, "URL", "http://parrot:8000").Replace(word))
				}
				Run(sess)
				if stdout.Len()+stderr.Len() == 0 {
					t.Errorf("%s prints nothing", line)
				}
				for _, text := range []string{painted.ReplaceAllString(stdout.String(), ""), stderr.String()} {
					if strings.Contains(line, "csv") { // a cell may have lines
						text = strings.ReplaceAll(text, "\nINJECTED", "")
					}
					if found := unclean(text); found != "" {
						t.Errorf("%s prints %q", line, found)
					}
				}
			}
		}
	})
}

func makePoisonedStore(t *testing.T) {
	t.Helper()
	runs, err := store.Open("runs.db")
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	legs := []*experiment.Leg{{Variant: hostile, Block: 1, Slot: 1, Ordinal: 1, Position: 1, Status: experiment.Failed, Why: plan.Msg("experiment.leg-failed", "why", hostile), Log: hostile}}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{hostile, "poisoned"} {
		folder := filepath.Join(here, name, hostile)
		j := experiment.Journal{Name: name, Status: experiment.Failed, File: hostile, Why: plan.Text(hostile), Folder: folder, Owner: experiment.Owner{PID: 1}, Legs: legs}
		body, err := json.Marshal(j)
		if err == nil {
			err = runs.CreateExperiment(store.Experiment{Name: name, Status: hostile, Body: body})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, imported := range map[string]bool{"measured": false, "imported": true} {
		run, records := poisoned(id, imported)
		w, err := runs.Create(run, store.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			w.Append(r)
		}
		if err := w.Finish(run); err != nil {
			t.Fatal(err)
		}
	}
}

// commandNames are all commands there are.
func commandNames(t *testing.T) (names []string) {
	t.Helper()
	var g grammar
	k, _, err := newParser(&session.Session{}, &g)
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range k.Model.Leaves(false) {
		var path []string
		for n := leaf; n != nil && n.Type != kong.ApplicationNode; n = n.Parent {
			path = append([]string{n.Name}, path...)
		}
		names = append(names, strings.Join(path, " "))
	}
	return names
}

// Files and pipes of machines are exact; JSON says it without control characters.
func TestMachinesGetWhatThereIs(t *testing.T) {
	t.Chdir(t.TempDir())
	makePoisonedStore(t)
	for format, want := range map[string]string{"json": `\u009b31m\u202e`, "jsonl": `\u009b31m\u202e`, "csv": "\u009b31m\u202e"} {
		sess, stdout, _ := process(t, nil, "runs", "export", "-f", format, "measured", "--store", "runs.db")
		if code := Run(sess); code != exitOK {
			t.Fatal(code)
		}
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the export as %s is not exact", format)
		}
		if strings.HasPrefix(format, "json") && strings.ContainsAny(stdout.String(), "\x1b\u009b\u202e") {
			t.Errorf("the export as %s has control characters", format)
		}
	}
}

// No code of the commands writes to the system's streams by itself: they are opened in
// Main, and what is past the plain.Writer is used where Guarded says.
func TestCommandsPrintThroughTheGuard(t *testing.T) {
	allowed := map[string][]string{"os.Stdout": {"Main"}, "os.Stderr": {"Main", "Files"}, ".RawStderr": {"Guarded", "NewView"}, ".RawStdout": {"Guarded", "Run", "export"}}
	files, _ := filepath.Glob("*.go")
	more, _ := filepath.Glob("../session/*.go")
	files = append(files, more...)
	seen := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, _ := sel.X.(*ast.Ident)
				what := "." + sel.Sel.Name
				if x != nil && (x.Name == "os" || x.Name == "fmt") {
					what = x.Name + what
				}
				if strings.HasPrefix(what, "fmt.Print") || allowed[what] != nil && !slices.Contains(allowed[what], f.Name.Name) {
					t.Errorf("%s: %s uses %s", name, f.Name.Name, what)
				}
				seen[what] = true
				return true
			})
		}
	}
	for what := range allowed {
		if !seen[what] {
			t.Errorf("nothing uses %s", what)
		}
	}
}
