package engine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// TestScenarios runs testdata/scenarios. A scenario is a Config and events in order
// of time, followed by the steps of its engines and the emissions.
//
//	engine:                        the Config in YAML, indented
//	arrive AT JOB prompt=N out=N [images=N,N] [shared=N:GROUP] [adapter=A] [priority=N]
//	cancel AT JOB
//	load AT NAME=VALUE...          the named values of the load at AT
//	steps                          all steps, indented
//	expect                         all emissions, indented
//
// The prompt is text, before the images. Jobs of a group have the first N tokens in
// common. A step is
//
//	FROM +TIME [SERVER] [preempt JOBS] [admit JOBS] [decode JOBS] [prefill JOB:FROM-TO/OF...] [...]
//
// where a decoding job may have +N draft tokens, and a prompt that begins beyond 0
// found its prefix in the cache. Text after # is a comment. UPDATE=1 rewrites steps
// and expect; then verify them by hand.
func TestScenarios(t *testing.T) {
	eachFile(t, "testdata/scenarios/*.txt", func(t *testing.T, file, text string) {
		s := readScenario(t, text)
		s.play()
		if os.Getenv("UPDATE") != "" {
			s.update(file, text)
		}
		s.same("steps", s.lines(s.steps), s.want["steps"])
		s.same("expect", s.emissions, s.want["expect"])
	})
}

// eachFile runs a test for every file that matches pattern; there must be at least
// one.
func eachFile(t *testing.T, pattern string, test func(t *testing.T, file, text string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			test(t, file, string(text))
		})
	}
}

// A scenario is one file.
type scenario struct {
	t       *testing.T
	config  Config
	actions []action
	want    map[string][]string // lines of steps and expect

	d         *Deployment
	steps     []*stepTaken
	emissions []string
	begun     map[uint64]bool
}

// An action is a line with an instant.
type action struct {
	at   time.Duration
	verb string
	args []string
}

func readScenario(t *testing.T, data string) *scenario {
	s := &scenario{t: t, want: map[string][]string{}, begun: map[uint64]bool{}}
	block, config := "", ""
	for _, line := range strings.Split(data, "\n") {
		code, _, _ := strings.Cut(line, "#")
		words := strings.Fields(code)
		switch {
		case len(words) == 0:
		case code[0] == ' ' || code[0] == '\t':
			if block == "engine:" {
				config += code + "\n"
			} else {
				s.want[block] = append(s.want[block], strings.Join(words, " "))
			}
		case len(words) == 1:
			block = words[0]
		default:
			s.actions = append(s.actions, action{s.at(words[1]), words[0], words[2:]})
		}
	}
	doc, err := plan.Parse("engine.yaml", []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Explain(plan.Decode(doc.Root, &s.config)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scenario) at(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// play runs the actions, and continues to the end.
func (s *scenario) play() {
	s.config.Seed = 1
	s.d = mustNew(s.t, s.config)
	for i, r := range s.d.replicas {
		for j, server := range r.servers {
			server.policy = &recorder{server.policy, s, server, s.serverName(i, j, r)}
		}
	}
	for i, a := range s.actions {
		if i == 0 || a.at > s.actions[i-1].at { // jobs of one instant arrive together
			s.stepTo(a.at)
		}
		switch a.verb {
		case "arrive":
			s.d.Add(a.at, s.job(a.args))
		case "cancel":
			s.d.Cancel(a.at, uint64(s.number(a.args[0])))
			s.settle()
		case "load":
			s.load(a.args)
		default:
			s.t.Fatalf("unknown verb %s", a.verb)
		}
	}
	s.stepTo(forever - 1)
}

func (s *scenario) serverName(replica, server int, r *replica) (name string) {
	if len(s.d.replicas) > 1 {
		name = fmt.Sprintf("replica-%d ", replica+1)
	}
	if r.link != nil && server < len(r.prefill) {
		return name + fmt.Sprintf("prefill-%d ", server+1)
	}
	return name
}

// stepTo steps event by event, to observe the beginning of each step.
func (s *scenario) stepTo(now time.Duration) {
	for at, ok := s.d.Next(); ok && at <= now; at, ok = s.d.Next() {
		for _, e := range s.d.Step(at, nil) {
			s.emitted(e)
		}
		s.settle()
	}
}

func (s *scenario) emitted(e Emission) {
	if e.Tokens == 0 {
		s.emissions = append(s.emissions, fmt.Sprintf("%v %d head", e.At, e.ID))
		return
	}
	line := fmt.Sprintf("%v %d %d token", e.At, e.ID, e.Tokens)
	if e.Tokens > 1 {
		line += "s"
	}
	if e.Cached > 0 && !s.begun[e.ID] {
		line += fmt.Sprintf(", %d cached", e.Cached)
	}
	if s.begun[e.ID] = true; e.Done {
		line += ", done"
	}
	s.emissions = append(s.emissions, line)
}

// A recorder is a policy that records the actions of the policy within it.
type recorder struct {
	Policy
	s      *scenario
	server *server
	name   string
}

// A stepTaken is a step of one server.
type stepTaken struct {
	server *server
	at     time.Duration
	took   time.Duration
	open   bool // it has just begun
	name   string
	did    string
}

// Repeat has every step planned, and recorded.
func (r *recorder) Repeat(*Core) bool { return false }

// Plan records the step.
func (r *recorder) Plan(c *Core) {
	before := slices.Clone(c.running)
	r.Policy.Plan(c)
	c.dissolve() // every sequence with its own share
	gone := func(from, in []*Seq) (ids []string) {
		for _, s := range from {
			if !slices.Contains(in, s) {
				ids = append(ids, fmt.Sprint(s.ID))
			}
		}
		return ids
	}
	did := clause("preempt", gone(before, c.running)...) + clause("admit", gone(c.running, before)...) +
		shares(c) + memory(c)
	if len(c.plan.decodes)+len(c.plan.prompts) > 0 {
		r.s.steps = append(r.s.steps, &stepTaken{server: r.server, at: c.now, open: true, name: r.name, did: did})
	}
}

func clause(verb string, args ...string) string {
	if len(args) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s ", verb, strings.Join(args, " "))
}

// shares lists the shares of c's step, and its other work.
func shares(c *Core) string {
	var decodes, prompts []string
	images := 0
	for _, sh := range c.plan.decodes {
		id := fmt.Sprint(sh.seq.ID)
		if sh.tokens > 1 {
			id += fmt.Sprintf("+%d", sh.tokens-1)
		}
		decodes = append(decodes, id)
	}
	for _, sh := range c.plan.prompts {
		s := sh.seq
		images += s.imageTokens(int(sh.tokens))
		prompts = append(prompts, fmt.Sprintf("%d:%d-%d/%d", s.ID, s.computed, s.computed+int(sh.tokens), s.length))
	}
	text := clause("decode", decodes...) + clause("prefill", prompts...)
	for _, extra := range []struct {
		name string
		n    int
	}{{"encode", images}, {"padding", c.plan.Decodes}, {"load", c.plan.Adapters}, {"map", c.plan.Pages}} {
		if extra.n > 0 {
			text += clause(extra.name, fmt.Sprint(extra.n))
		}
	}
	return text
}

// memory shows the number of held blocks, if memory is limited.
func memory(c *Core) string {
	held, total := c.kv.Blocks()
	if total == maxBlocks {
		return ""
	}
	text := fmt.Sprintf("held %d/%d ", held, total)
	if idle := c.kv.Allocated() - held; idle > 0 {
		text += fmt.Sprintf("idle %d ", idle)
	}
	return text
}

// settle records the durations of steps that have begun.
func (s *scenario) settle() {
	for i := len(s.steps) - 1; i >= 0 && s.steps[i].open; i-- {
		if st := s.steps[i]; st.server.end < forever {
			st.took, st.open = st.server.end-st.at, false
		}
	}
}

func (s *scenario) lines(steps []*stepTaken) []string {
	slices.SortStableFunc(steps, func(a, b *stepTaken) int { return cmp.Compare(a.at, b.at) })
	var lines []string
	for _, st := range steps {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%v +%v %s%s", st.at, st.took, st.name, st.did)))
	}
	return lines
}

func (s *scenario) number(text string) (n int) {
	if _, err := fmt.Sscan(text, &n); err != nil {
		s.t.Fatalf("%q: %v", text, err)
	}
	return n
}

func (s *scenario) job(args []string) Job {
	j := Job{ID: uint64(s.number(args[0]))}
	shared, group := 0, ""
	for _, a := range args[1:] {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "prompt":
			j.PromptTokens = s.number(value)
		case "out":
			j.OutputTokens = s.number(value)
		case "images":
			for i, tokens := range strings.Split(value, ",") {
				j.Images = append(j.Images, Image{Tokens: s.number(tokens), Hash: j.ID<<8 + uint64(i)})
			}
		case "shared":
			tokens, g, _ := strings.Cut(value, ":")
			shared, group = s.number(tokens), g
		case "adapter":
			j.Adapter = value
		case "priority":
			j.Priority = s.number(value)
		default:
			s.t.Fatalf("unknown %s", a)
		}
	}
	for i := range j.PromptTokens {
		token := int32(j.ID)
		if i < shared {
			token = -int32(group[0])
		}
		j.Prompt = append(j.Prompt, token)
	}
	for _, i := range j.Images {
		j.PromptTokens += i.Tokens
	}
	return j
}

// load compares the named values.
func (s *scenario) load(args []string) {
	l := s.d.Load()
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		got, ok := map[string]any{
			"running": l.Running, "waiting": l.Waiting, "kv": l.KV, "steps": l.Steps, "preemptions": l.Preemptions,
			"hits":     fmt.Sprintf("%d/%d", l.PrefixHit, l.PrefixQueried),
			"accepted": fmt.Sprintf("%d/%d", l.Accepted, l.Drafted),
		}[name]
		if text := fmt.Sprintf("%s=%v", name, got); !ok || text != a {
			s.t.Errorf("load: %s, want %s", text, a)
		}
	}
}

func (s *scenario) same(name string, got, want []string) {
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: got\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// update writes the results into the file in place of the expectations.
func (s *scenario) update(file, data string) {
	var out []string
	block := ""
	for _, line := range strings.Split(data, "\n") {
		switch {
		case line == "steps" || line == "expect":
			block = line
			out = append(out, line)
			for _, l := range map[string][]string{"steps": s.lines(s.steps), "expect": s.emissions}[line] {
				out = append(out, "\t"+l)
			}
		case strings.HasPrefix(line, "\t") && block != "":
		default:
			block = ""
			out = append(out, line)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
		s.t.Fatal(err)
	}
	*s = scenario{
		t: s.t, want: map[string][]string{"steps": s.lines(s.steps), "expect": s.emissions}, steps: s.steps,
		emissions: s.emissions,
	}
}
