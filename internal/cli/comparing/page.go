package comparing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// Limits bound what the page compares, so that its server stays small. A run of 100 000 requests
// with 64 tokens each takes some 400 MB while it is in memory, and then a few.
type Limits struct {
	Records int // of a run
	Total   int // records of all runs
	Runs    int
}

// DefaultLimits are those of a server.
var DefaultLimits = Limits{Records: 100_000, Total: 1_000_000, Runs: 1_000}

// Limits of the cache of comparisons.
const (
	cachedRecords = 200_000 // of the runs with cached observations
	cachedRuns    = 400
	cachedResults = 32
)

// A Page answers the page's requests for comparisons, experiments and notes. It loads one trace at a time, whoever
// asks, and caches the observations of runs that have ended.
type Page struct {
	Runs    *store.Store
	Store   string // as a flag of commands, empty: the store that they find by themselves
	Version string // of the program
	Limits  Limits

	turn     chan struct{} // who has it loads a trace
	mu       sync.Mutex
	observed lru[observation]
	results  lru[*answer]
	notes    lru[*written]
}

// NewPage answers for a store.
func NewPage(runs *store.Store, file, version string) *Page {
	p := &Page{Runs: runs, Store: file, Version: version, Limits: DefaultLimits, turn: make(chan struct{}, 1)}
	p.observed.most, p.observed.weight = cachedRuns, cachedRecords
	p.results.most, p.notes.most = cachedResults, cachedNotes
	return p
}

// An observation has the figures of a run for comparisons, and its distributions.
type observation struct {
	run       compare.ComparedRun
	latencies plot.Latencies
	leftOut   []plan.Message // its damage
}

// An answer is a comparison of runs, or why there is none, in no language.
type answer struct {
	compare.Comparison
	journal   *experiment.Journal // of the experiment that was asked for; nil of other runs
	latencies map[string]plot.Latencies
	picks     []session.Pick
	refused   *refusal
	damage    []plan.Message // of runs that were skipped, or are incomplete
}

// Compare answers a comparison.
func (p *Page) Compare(ctx context.Context, asked view.Asked, lang *words.Language) (view.Comparison, error) {
	r, err := p.compare(ctx, asked)
	if err != nil {
		return view.Comparison{}, err
	}
	out := view.Comparison{}
	if r.refused == nil {
		var advice []string
		if r.journal != nil && r.SameVariants() {
			advice = Worthwhile(r.journal, r.Comparison, lang)
		}
		out = comparison.Answer(r.Comparison, lang, advice)
		for i, load := range r.Workloads {
			out.Loads[i].Overlays = comparison.Overlays(load, r.latencies, lang)
		}
		out.Sources = comparison.Marked(r.Comparison, lang, p.source)
		for _, m := range r.damage {
			out.Notes = append(out.Notes, view.Said{Label: lang.Word("label.note"), Text: doc.Clean(lang.Say(m)), Tone: "unclear"})
		}
	}
	out.Asked, out.Refused, out.Command = asked, r.refused.in(lang), command("compare", asked, p.Store)
	return out, nil
}

// compare finds the runs and compares them. A question that has no answer is refused.
func (p *Page) compare(ctx context.Context, asked view.Asked) (*answer, error) {
	r, o, err := p.find(asked)
	if err != nil || r.refused != nil {
		return r, err
	}
	key := r.key(asked)
	if known, ok := p.cachedResult(key); ok {
		return known, nil
	}
	r.Comparison, err = p.judge(ctx, r, o, nil)
	switch r.refused = refusalOf(err); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case r.refused != nil && r.refused.setting == "baseline":
		o.Baseline = ""
		if c, err := p.judge(ctx, r, o, nil); err == nil {
			r.refused.values = variantsOf(c)
		}
		return r, nil
	case r.refused != nil:
		return r, nil
	case err != nil:
		return nil, err
	}
	if why := r.WhyNothingCompared(); !why.IsZero() {
		r.refused = loadsDiffer(why)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results.put(key, r, 0)
	return r, nil
}

// find finds the runs of a question, and how to judge them.
func (p *Page) find(asked view.Asked) (*answer, compare.Options, error) {
	r := &answer{latencies: map[string]plot.Latencies{}}
	f := &session.Finder{Runs: p.Runs, Damaged: r.reportDamage, Loaded: func(*trace.Trace) {}}
	picks, err := session.Merge(asked.Runs, asked.Runs, f.Find)
	o, wrong := options(asked)
	r.picks = picks
	if err = errors.Join(err, wrong); err != nil {
		if r.refused = refusalOf(err); r.refused != nil {
			err = nil
		}
		return r, o, err
	}
	o.Baseline, o.Past = session.LabelOf(picks, o.Baseline), Past(p.Runs)
	if len(f.Journals) == 1 && len(asked.Runs) == 1 {
		r.journal = f.Journals[0]
		if o, err = AsExperiment(o, r.journal); err != nil {
			return r, o, err
		}
		if why := NoEvidence(r.journal, o.Order, o.Baseline); !why.IsZero() {
			r.refused = &refusal{setting: "legs", why: why}
			if r.journal.Status == experiment.Running {
				r.refused.setting = "pending"
			}
			return r, o, nil
		}
	}
	r.refused, err = p.tooLarge(picks)
	return r, o, err
}

// reportDamage notes that a run is damaged, if an error says so.
func (r *answer) reportDamage(err error) bool {
	damaged := errors.As(err, new(*store.Damage))
	if damaged {
		r.damage = append(r.damage, plan.Text(err.Error()))
	}
	return damaged
}

// judge compares the runs of a result; see, if there is one, is shown each trace.
func (p *Page) judge(ctx context.Context, r *answer, o compare.Options, see func(*trace.Trace)) (compare.Comparison, error) {
	return Compare(r.picks, o, func(one session.Pick, by []compare.RuleSource) (compare.ComparedRun, error) {
		seen, err := p.observe(ctx, one, by, o, see)
		r.latencies[one.Run.ID] = seen.latencies
		r.damage = append(r.damage, seen.leftOut...)
		return seen.run, err
	})
}

// key identifies a result: the question, and the runs as they are at present.
func (r *answer) key(asked view.Asked) string {
	key, _ := json.Marshal(asked) // of strings and numbers
	for _, one := range r.picks {
		key = fmt.Appendf(key, " %s %s", one.Run.ID, one.Run.Status)
	}
	if r.journal != nil {
		key = fmt.Appendf(key, " %s %v", r.journal.Status, r.journal.Looks)
	}
	return string(key)
}

func (p *Page) cachedResult(key string) (*answer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.results.get(key)
	return r, ok && !r.goesOn()
}

// goesOn reports whether a run is under way.
func (r *answer) goesOn() bool {
	return slices.ContainsFunc(r.picks, func(one session.Pick) bool { return one.Run.Status == trace.Running })
}

// observe loads a run, unless that was done before and nobody wants to see it.
func (p *Page) observe(ctx context.Context, one session.Pick, by []compare.RuleSource, o compare.Options, see func(*trace.Trace)) (seen observation, err error) {
	key := fmt.Sprint(one.Run.ID, by)
	p.mu.Lock()
	seen, ok := p.observed.get(key)
	p.mu.Unlock()
	if ok && see == nil {
		return seen, nil
	}
	release, err := p.wait(ctx)
	if err != nil {
		return seen, err
	}
	defer release()
	seen, records, err := load(one, by, o, see)
	if err == nil && one.Run.Status != trace.Running {
		p.mu.Lock()
		p.observed.put(key, seen, records)
		p.mu.Unlock()
	}
	return seen, err
}

// load loads a run and caches its observation.
func load(one session.Pick, by []compare.RuleSource, o compare.Options, see func(*trace.Trace)) (seen observation, records int, err error) {
	records, err = one.Observed(func(t *trace.Trace) {
		if see != nil {
			see(t)
		}
		seen = observation{compare.Observe(t, by, o.Rules), plot.NewLatencies(t), store.LeftOut(t)}
	})
	return seen, records, err
}

// wait waits for the turn to load a trace, as long as somebody wants it.
func (p *Page) wait(ctx context.Context) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tooLarge refuses runs that are too large, or too many.
func (p *Page) tooLarge(picks []session.Pick) (*refusal, error) {
	refuse := func(code plan.Code, args ...any) (*refusal, error) {
		return &refusal{setting: "size", why: plan.Msg(code, args...)}, nil
	}
	if len(picks) > p.Limits.Runs {
		return refuse("compare.too-many", "runs", len(picks), "most", p.Limits.Runs)
	}
	total := 0
	for _, one := range picks {
		if !compare.HasRecords(one.Run) {
			continue
		}
		list, err := p.Runs.List(store.Filter{Match: one.Run.ID})
		if err != nil || len(list) == 0 {
			return nil, err
		}
		n := list[0].Records
		if total += n; n > p.Limits.Records {
			return refuse("compare.too-large", "run", cmp.Or(one.Run.Name, one.Run.ID), "requests", n, "most", p.Limits.Records)
		}
	}
	if total > p.Limits.Total {
		return refuse("compare.too-large-together", "requests", total, "most", p.Limits.Total)
	}
	return nil, nil
}

func options(asked view.Asked) (o compare.Options, err error) {
	o = compare.Options{
		Level: cmp.Or(asked.Level, compare.DefaultLevel), Margin: cmp.Or(asked.Margin, compare.DefaultMargin), Baseline: asked.Baseline, Paired: asked.Paired,
		SingleRuns: asked.Single, Predicted: asked.Predicted, Ignore: asked.Ignore, Tool: asked.By, Rules: known.Rules(),
	}
	var p plan.Problems
	p.If(asked.By != "" && asked.By != "pitot" && known.Named(asked.By).Definitions.Figures == nil, "by", asked.By, "must be pitot, vllm or sglang")
	p.If(o.Level < 0.5 || o.Level > 0.999, "level", o.Level, "must be from 50%% to 99.9%%")
	errs := []error{p.Err()}
	for _, text := range asked.Gates {
		g, err := compare.ParseGate(text)
		o.Gates, errs = append(o.Gates, g), append(errs, err)
	}
	return o, errors.Join(errs...)
}
