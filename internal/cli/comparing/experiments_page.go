package comparing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostPlanned is how many legs to come are shown one by one.
const mostPlanned = 400

// An experimentPage is an experiment on its way to the page.
type experimentPage struct {
	j      *experiment.Journal
	design *design.Experiment
	all    []design.Variant // the baseline first
	lang   *words.Language
}

func newExperimentPage(j *experiment.Journal, lang *words.Language) experimentPage {
	t := experimentPage{j: j, lang: lang, design: &design.Experiment{}}
	if e, _, err := design.Read("", []byte(j.File)); err == nil { // else its legs say something all the same
		t.design, t.all = e, e.Expanded()
	}
	return t
}

func (t experimentPage) row() view.ExperimentRow {
	j := t.j
	row := view.ExperimentRow{
		Name: j.Name, Status: string(j.Status), State: t.lang.Word(statusOf(j.Status)), Started: j.Started.Format(time.RFC3339), Spent: j.Spent.Seconds(),
		Done: len(j.With(experiment.Done)), Failed: len(j.With(experiment.Failed)), Same: t.all != nil && t.design.Same(),
		AtMost: t.design.Design.Adaptive() && j.Status != experiment.Done,
	}
	for _, b := range t.blocks() {
		row.Planned += b.turns()
	}
	for _, v := range t.all {
		row.Variants = append(row.Variants, doc.Clean(v.Name))
	}
	for _, w := range t.design.Workloads {
		row.Workloads = append(row.Workloads, doc.Clean(w.Name))
	}
	return row
}

// answer is the experiment as it is. live are runs under way, by the positions of their legs.
func (t experimentPage) answer(live map[int][]view.LegRun, stored time.Time) view.Experiment {
	j := t.j
	out := view.Experiment{
		Row: t.row(), Looks: j.Looks.Done, Verdict: len(j.With(experiment.Done)) > 0, Winner: doc.Clean(j.Winner), Left: t.timeLeft(),
		Log: t.log(), File: j.File, Folder: j.Folder, Stored: stored.Format(time.RFC3339), Commands: t.commands(), Method: t.method(),
	}
	if j.Looks.Most > 1 {
		out.Most = j.Looks.Most
	}
	if !j.Why.IsZero() {
		out.Why = doc.Clean(t.lang.Say(j.Why))
	}
	if !j.Ended.IsZero() {
		out.Ended = doc.Clean(t.lang.Say(j.Ended))
	}
	for i, v := range t.all {
		out.Sides = append(out.Sides, view.ExperimentVariant{Letter: comparison.Letter(i), Name: doc.Clean(v.Name), What: doc.Clean(measuredOf(v))})
	}
	for _, b := range t.blocks() {
		one := view.Block{Number: b.number, Confirms: b.confirms}
		for _, l := range b.legs {
			one.Legs = append(one.Legs, t.leg(l, live[l.Position]))
		}
		out.Blocks = append(out.Blocks, one)
	}
	return out
}

// A block is legs that were made, with those that are to come.
type block struct {
	number   int
	confirms bool
	legs     []*experiment.Leg // without a status: to come
}

// turns is how many legs of a block are needed.
func (b block) turns() (n int) {
	for _, l := range b.legs {
		n = max(n, l.Slot)
	}
	return n
}

// blocks are those that have begun, and of an experiment that has not ended those to come.
func (t experimentPage) blocks() (all []block) {
	for _, l := range t.j.Legs {
		i := slices.IndexFunc(all, func(b block) bool { return b.number == l.Block && b.confirms == l.Confirms })
		if i < 0 {
			i, all = len(all), append(all, block{number: l.Block, confirms: l.Confirms})
		}
		all[i].legs = append(all[i].legs, l)
	}
	if t.all != nil && t.j.Status != experiment.Done {
		all = t.planned(all)
	}
	for _, b := range all {
		slices.SortStableFunc(b.legs, func(a, b *experiment.Leg) int { return cmp.Compare(a.Slot, b.Slot) })
	}
	return all
}

// planned adds the turns that are still to come.
func (t experimentPage) planned(all []block) []block {
	if slices.ContainsFunc(all, func(b block) bool { return b.confirms }) {
		return all // how many follow depends on the choice
	}
	legs := 0
	for number := 1; number <= t.design.Design.Most() && legs < mostPlanned; number++ {
		i := slices.IndexFunc(all, func(b block) bool { return b.number == number })
		if i < 0 {
			i, all = len(all), append(all, block{number: number})
		}
		for slot, v := range design.Order(len(t.all), t.design.Design, number) {
			made := slices.ContainsFunc(all[i].legs, func(l *experiment.Leg) bool { return l.Slot == slot+1 })
			if legs++; !made {
				all[i].legs = append(all[i].legs, &experiment.Leg{Variant: t.all[v].Name, Block: number, Slot: slot + 1})
			}
		}
	}
	return all
}

func (t experimentPage) leg(l *experiment.Leg, live []view.LegRun) view.Leg {
	out := view.Leg{
		Position: l.Position, Number: t.j.Number(l), Turn: l.Slot, Attempt: l.Attempt, Letter: t.letter(l.Variant), Variant: doc.Clean(l.Variant), Status: string(l.Status),
		Took: l.Took.Seconds(), Ready: l.Ready.Seconds(),
	}
	if l.Status == "" {
		out.Status, out.State = "planned", t.lang.Word("experiments.planned")
		return out
	}
	out.State, out.Began = t.lang.Word(statusOf(l.Status)), l.Began.Format(time.RFC3339)
	if !l.Why.IsZero() {
		out.Why = doc.Clean(t.lang.Say(l.Why))
	}
	if l.Ready > 0 {
		out.Server = t.lang.Word("experiments.ready-in", "took", rounded(l.Ready))
	}
	if l.Log != "" {
		out.Log = doc.Clean(l.Log)
	}
	for _, r := range l.Runs {
		out.Runs = append(out.Runs, view.LegRun{ID: r.ID, Workload: doc.Clean(r.Workload)})
	}
	for _, r := range live {
		if !slices.ContainsFunc(out.Runs, func(o view.LegRun) bool { return o.ID == r.ID }) {
			out.Runs = append(out.Runs, r)
		}
	}
	return out
}

// timeLeft is the time that the remaining legs will take, by those made; nil if unknown.
func (t experimentPage) timeLeft() *float64 {
	if t.j.Status != experiment.Running || len(t.j.With(experiment.Done)) == 0 {
		return nil
	}
	turns := 0
	for _, b := range t.blocks() {
		turns += b.turns()
	}
	seconds := t.j.TimeLeft(turns).Seconds()
	return &seconds
}

func (t experimentPage) method() (fields []view.Field) {
	if t.all == nil {
		return nil
	}
	made, e := ExperimentInNote(t.j, t.design), t.design
	add := func(title plan.Code, texts ...string) {
		texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
		if len(texts) > 0 {
			fields = append(fields, view.Field{Name: t.lang.Word(title), Value: doc.Clean(t.lang.Join("sentence", texts...))})
		}
	}
	kind := plan.Code("note.order-abba")
	if made.Squares {
		kind = "note.order-squares"
	}
	orders, confirming := t.orders()
	order := []string{t.lang.Word(kind, "blocks", len(orders), "orders", strings.Join(orders, " "), "seed", e.Design.Seed)}
	if confirming != nil {
		order = append(order, t.lang.Word("note.order-confirming", "variant", t.j.Winner, "blocks", len(confirming), "orders", strings.Join(confirming, " ")))
	}
	add("note.order", order...)
	add("note.servers", t.lang.Word(made.Servers), t.sentence(made.Starts))
	add("note.load", t.lang.Word("note.seeds", "seed", e.Design.Seed, "runs", made.Runs, "several", made.Runs > 1))
	if t.j.Looks.Most > 1 {
		add("note.looks", t.lang.Word("note.looks-some", "done", t.j.Looks.Done, "most", t.j.Looks.Most))
	} else {
		add("note.looks", t.lang.Word("note.looks-one"))
	}
	if len(t.j.With(experiment.Done)) > 0 {
		add("note.cost", t.sentence(made.Cost))
	}
	return fields
}

// orders are those of the legs, made or to come, of each block and of each that confirms, as
// letters.
func (t experimentPage) orders() (all, confirming []string) {
	for _, b := range t.blocks() {
		letters := make([]string, b.turns())
		for _, l := range b.legs {
			letters[l.Slot-1] = t.letter(l.Variant)
		}
		if order := strings.Join(letters, ""); b.confirms {
			confirming = append(confirming, order)
		} else {
			all = append(all, order)
		}
	}
	return all, confirming
}

func (t experimentPage) letter(variant string) string {
	i := slices.IndexFunc(t.all, func(v design.Variant) bool { return v.Name == variant })
	if i < 0 {
		return "?"
	}
	return comparison.Letter(i)
}

// sentence words a message as a sentence; empty for none.
func (t experimentPage) sentence(m plan.Message) string {
	if m.IsZero() {
		return ""
	}
	return t.lang.Word("note.sentence", "said", t.lang.Say(m))
}

// commands go on with it, or make another one of it.
func (t experimentPage) commands() (all []view.Command) {
	add := func(kind string, line ...string) {
		for i, word := range line {
			line[i] = shell.Quote(word)
		}
		all = append(all, view.Command{Dialect: kind, Line: strings.Join(line, " ")})
	}
	switch t.j.Status {
	case experiment.Interrupted, experiment.Failed:
		add("resume", "pitot", "experiment", "resume", t.j.Name)
	case experiment.Running, experiment.Done:
	}
	add("again", "pitot", "experiment", "run", t.j.Folder+"/experiment.yaml", "--name", t.j.Name+"-2")
	return all
}

// log is what happened, in order.
func (t experimentPage) log() (lines []view.LogLine) {
	of := 0
	for _, b := range t.blocks() {
		of += b.turns()
	}
	add := func(at time.Time, tone string, code plan.Code, args ...any) {
		lines = append(lines, view.LogLine{At: at.Format(time.RFC3339), Text: doc.Clean(t.lang.Word(code, args...)), Tone: tone})
	}
	for _, l := range t.j.Legs {
		at := l.Began
		add(at, "", "experiment.leg", "leg", t.j.Number(l), "of", of, "try", try(l), "block", l.Block, "variant", l.Variant, "confirms", l.Confirms)
		if at = at.Add(l.Ready); l.Ready > 0 {
			add(at, "", "experiment.ready", "took", rounded(l.Ready))
		}
		for _, r := range l.Runs {
			at = at.Add(r.Took)
			add(at, "", "experiments.made-run", "workload", r.Workload, "run", r.ID, "took", rounded(r.Took))
		}
		switch end := l.Began.Add(l.Took); l.Status {
		case experiment.Failed:
			add(end, "worse", "experiment.leg-lost", "why", l.Why, "again", false)
		case experiment.Interrupted:
			add(end, "unclear", "experiment.leg-stopped")
		case experiment.Done, experiment.Running:
		}
	}
	return lines
}
