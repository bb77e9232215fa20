package profile

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
)

func TestEveryProfileOfTheLibraryIsWhole(t *testing.T) {
	names := Names()
	if len(names) < 9 {
		t.Fatal(names)
	}
	for _, name := range names {
		p, err := Load(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if p.Name != name || p.About == "" || p.Engine.Context() <= 0 {
			t.Errorf("%s: name %q, about %q, context %d", name, p.Name, p.About, p.Engine.Context())
		}
		if _, err := engine.New(p.Engine); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (p.Error == "illustrative") != (len(p.Evidence) == 0) {
			t.Errorf("%s: error %q with %d runs of evidence", name, p.Error, len(p.Evidence))
		}
	}
}

func TestAnUnknownNameIsAnsweredWithTheNames(t *testing.T) {
	_, err := Load("smal-chat")
	if err == nil || !strings.Contains(err.Error(), `unknown profile "smal-chat", did you mean "small-chat"? There are `) {
		t.Errorf("%v", err)
	}
}

// The mistakes of each file of testdata are in the golden file next to it.
func TestMistakesPointAtTheirPlaces(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(file), data)
			if err == nil {
				t.Fatal("no mistake was found")
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			got := err.Error() + "\n"
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const minimal = "title: t\nsource: s\nerror: illustrative\n"

func TestParseReadsEveryKindOfValue(t *testing.T) {
	_, err := Parse("mine.yaml", []byte("\xef\xbb\xbf"+minimal+`
about: |
  two
  lines
max_model_len: 4096
scheduler: {policy: sglang, mixed: true, reserve: 0.5}
kv:
  elastic: {page_tokens: 1024}
lora:
cost:
  step: 17.5µs
  decode_table:
    - {at: 1, time: 1ms}
    - {at: 2.5, time: 2ms}
model: {name: m, output_len: "uniform(1,9)"}
disaggregation:
  link: {bandwidth: 25e9, token_size: 70272}
`))
	if err == nil || !strings.Contains(err.Error(), "decode_table: replaces step") {
		t.Fatalf("%v", err)
	}
	p, err := Parse(`folder\mine.yaml`, []byte(minimal+"\r\nkv: {elastic: {page_tokens: 1024}}\nlora:\nmodel: {output_len: 'uniform(1,9)'}\ncost: {step: 17.5µs, jitter: 1}\nreplicas: ~\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "mine" || p.Engine.LoRA != nil || p.Engine.KV.Elastic.PageTokens != 1024 || p.Model.OutputLen.String() != "uniform(1,9)" ||
		p.Engine.Cost.Step != 17.5e-6 || p.Engine.Cost.Jitter != 1 {
		t.Errorf("%+v", p)
	}
}

func TestMistakesAreValues(t *testing.T) {
	_, err := Parse("x.yaml", []byte("titel: x\n"))
	var m plan.Mistakes
	if !errors.As(err, &m) || m[0].Line != 1 || m[0].Column != 1 || m[0].Text != "titel: x" || m[0].File != "x.yaml" {
		t.Errorf("%+v", m)
	}
}

func TestFiguresOfOlderProfilesAreNamedAsTheyAreNow(t *testing.T) {
	_, err := Parse("x.yaml", []byte("evidence: [{measured: {peak_output_per_second: 5}}]\n"))
	if err == nil || !strings.Contains(err.Error(), "unknown field; use peak.output") {
		t.Error(err)
	}
}

func TestFiguresAreThoseMeasured(t *testing.T) {
	p, err := Load("deepseek-r1-pd")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range p.Evidence[0].Measured.Figures() {
		got[f.Name] = f.Value
	}
	if len(got) != 17 || got["duration"] != 354.53 || got["itl.p95"] != 0.08006 || got["ttft.median"] != 4.36817 {
		t.Errorf("%v", got)
	}
}

// Any input gives a profile or mistakes at places within it; a parsed profile
// validates.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		data, err := Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("fuzz.yaml", data)
		if (p == nil) == (err == nil) {
			t.Fatalf("%v, %v", p, err)
		}
		if err == nil {
			if err := p.Validate(); err != nil {
				t.Errorf("read, but %v", err)
			}
			return
		}
		var mistakes plan.Mistakes
		if !errors.As(err, &mistakes) || len(mistakes) == 0 {
			t.Fatalf("%T", err)
		}
		for _, m := range mistakes {
			if m.Line < 1 || m.Column < 1 || m.Problem == "" {
				t.Errorf("%#v", m)
			}
		}
	})
}

// Every field is documented in docs/profiles.md.
func TestEveryFieldIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../../../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(b), -1) {
		for _, word := range regexp.MustCompile(`[a-z0-9_]+`).FindAllString(code, -1) {
			words[word] = true
		}
	}
	tags := map[string]bool{}
	yamlTags(reflect.TypeFor[Profile](), tags)
	if len(tags) < 80 {
		t.Fatalf("only %d fields", len(tags))
	}
	for tag := range tags {
		if !words[tag] {
			t.Errorf("docs/profiles.md does not tell of %q", tag)
		}
	}
}

// yamlTags collects the names of the fields of a type and of what is in it.
func yamlTags(of reflect.Type, tags map[string]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case !f.IsExported() || name == "-":
			continue
		case name != "":
			tags[name] = true
		case options != "inline":
			tags[of.Name()+"."+f.Name+" without a name"] = true
		}
		yamlTags(f.Type, tags)
	}
}

func TestCalibration(t *testing.T) {
	const head = "title: t\nsource: s\nerror: e\ncost: {step: 7ms}\n"
	p, err := Parse("p.yaml", []byte(head+`calibration:
  runs: 6
  steps: 7000
  missed: 0.4%
  seen: {sequences: 64, context: 34044, step_tokens: 8170, prompt: 2292, limit: true}
  drift: 1.2%
  misfit: {ttft.mean: 2.1%, itl.p99: 0.05}
  draws:
    - {step: 7.01ms, prefill_token: 17.9us}
    - {decode_table: [{at: 1, time: 7ms}, {at: 8, time: 8ms}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := p.Calibration
	if !c.Seen.Limit || c.Seen.Budget || math.Abs(float64(c.Misfit["ttft.mean"])-0.021) > 1e-12 || c.Draws[1].DecodeTable[1].At != 8 || math.Abs(float64(c.Draws[0].PrefillToken)-17.9e-6) > 1e-12 {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{
		"drift: -1%":                        "calibration.drift",
		"misfit: {ttft.mean: -5%}":          "calibration.misfit.ttft.mean",
		"seen: {sequences: -1}":             "calibration.seen.sequences",
		"draws: [{step: 1ms}, {step: -1s}]": "calibration.draws[1].step",
	} {
		_, err := Parse("p.yaml", []byte(head+"calibration: {"+text+"}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
