package view

import (
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// A Run is a run without its requests.
type Run struct {
	Row      Row       `json:"row"`
	Verdict  Verdict   `json:"verdict"`
	Brief    Brief     `json:"brief"`
	Seconds  *float64  `json:"seconds"` // the benchmark duration; null while it is not known
	Lasts    *float64  `json:"lasts"`   // for how many seconds requests are sent, by the plan; null: until all are
	Figures  []Figure  `json:"figures"` // by Pitot's definitions, or as reported by an imported run's tool
	Requests Requests  `json:"requests"`
	Failures []Failure `json:"failures"`
	Fleet    *Fleet    `json:"fleet"` // null: one machine sent the requests
	Notes    []string  `json:"notes"`
	// Plan and Environment are groups of settings and facts in words.
	Plan        []Group   `json:"plan"`
	Environment []Group   `json:"environment"`
	Spec        string    `json:"spec"`     // the plan as a settings file; empty: of imported runs
	Commands    []Command `json:"commands"` // that make the run again
	HasNote     bool      `json:"note"`     // the text that it was imported from is stored
	// Predicted describes the engine of a simulated run; empty for others.
	Predicted string `json:"predicted"`
}

// A Verdict says how far figures can be trusted.
type Verdict struct {
	Validity string   `json:"validity"` // as in Row
	Headline string   `json:"headline"`
	Causes   []string `json:"causes"`
	Remedy   string   `json:"remedy"`  // what to do, in one sentence; empty: nothing
	Effects  string   `json:"effects"` // what the causes did to the figures; empty: not known apart from them
}

// A Figure is one number of a run.
type Figure struct {
	Name       string   `json:"name"`  // ttft.p99
	Group      string   `json:"group"` // of figures that stand in one row: ttft; empty: stands by itself
	Title      string   `json:"title"`
	Unit       string   `json:"unit"`  // as it is displayed
	Text       string   `json:"text"`  // the value as it is displayed, without its unit
	Value      *float64 `json:"value"` // SI
	Definition string   `json:"definition"`
	// Doubt says why the figure is less sure than it looks, such as a sample that is too small;
	// empty: nothing does.
	Doubt string `json:"doubt"`
	// Low and High are its bounds, where only they are known.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// Requests counts the requests of a run.
type Requests struct {
	Planned int `json:"planned"`
	Sent    int `json:"sent"`
	OK      int `json:"ok"`
	Failed  int `json:"failed"`
}

// A Failure is one way in which requests failed.
type Failure struct {
	Class   string `json:"class"`
	Title   string `json:"title"`
	Status  int    `json:"status"` // HTTP status of class http
	Count   int    `json:"count"`
	Example string `json:"example"` // the message of the server, or the client, on the first of them
}

// A Group is settings or facts under a title.
type Group struct {
	Title  string  `json:"title"`
	Fields []Field `json:"fields"`
}

// A Field is a setting or a fact.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Command is a command line, for a shell.
type Command struct {
	Dialect string `json:"dialect"`
	Line    string `json:"line"`
	Note    string `json:"note"` // why it is not the same run; empty: it is
}

// A Report is the run in the form of a tool, as text of fixed width.
type Report struct {
	Dialect string `json:"dialect"`
	Text    string `json:"text"`
}

// Reports are the forms that there are of a run.
type Reports struct {
	Reports []Report `json:"reports"`
	Note    string   `json:"note"` // why there are none; empty: there are
}

// A RunNote is the text that a run was imported from, in which all tables that are stored as runs are marked.
type RunNote struct {
	Notes   []MarkedNote `json:"notes"`
	Compare string       `json:"compare"` // these runs, as a name of a comparison; empty: there is nothing to compare
}

// A Predicted is measured and simulated runs of the same load.
type Predicted struct {
	Load     string         `json:"load"`     // in words
	Measured []PredictedRun `json:"measured"` // with the run that was asked for, if it is one and not invalid
	LeftOut  string         `json:"left_out"` // why that run is not among them; empty: it is, or was simulated
	// Predictions are the simulated runs by their profile, those that deviate least first.
	Predictions []Prediction `json:"predictions"`
}

// A PredictedRun is a run by name.
type PredictedRun struct {
	ID   string `json:"id"`
	Name string `json:"name"` // empty: it has none
}

// A Prediction is what simulated runs of one profile say of a load.
type Prediction struct {
	Profile string         `json:"profile"` // empty: an engine with latencies in place of a profile
	Error   string         `json:"error"`   // the known error of the profile, in words
	Runs    []PredictedRun `json:"runs"`
	Figures []Deviation    `json:"figures"`
}

// A Deviation is a figure as it was measured and as it was predicted: means over the runs, with
// the smallest and the largest.
type Deviation struct {
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Unit      string  `json:"unit"` // of the values
	Measured  Reach   `json:"measured"`
	Predicted Reach   `json:"predicted"`
	Share     float64 `json:"share"` // by which the prediction is larger than the measurement
	// Known is the error that the calibration of the profile found in this figure, as a share; null:
	// it says none.
	Known *float64 `json:"known"`
}

// A Reach is a value with its bounds.
type Reach struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	N     int     `json:"n"` // runs
}

// A Fleet is the machines that sent the requests of a run.
type Fleet struct {
	Summary   string   `json:"summary"`
	MaxOffset string   `json:"apart"`   // error of instants between workers, in words; empty for a single worker
	Workers   []Worker `json:"workers"` // the worst first
}

// A Worker is a machine of a Fleet. Numbers are in seconds and shares; null: not known.
type Worker struct {
	Name     string   `json:"name"`
	Zone     string   `json:"zone"`
	Host     string   `json:"host"`
	Requests int      `json:"requests"` // its share
	Records  int      `json:"records"`  // of these, as many came
	Late     *float64 `json:"late"`     // P99 of how late requests were sent
	CPU      *float64 `json:"cpu"`      // share of its processors
	Lag      *float64 `json:"lag"`      // P99 of how late it read
	Clock    *float64 `json:"clock"`    // how far its instants can be off
	Drift    *float64 `json:"drift"`    // of its clock, in ppm
	Validity string   `json:"validity"` // as in Row; lost
	Verdict  string   `json:"verdict"`  // the same in a word
	Why      string   `json:"why"`      // how it was lost, or why it is not valid
}

// fleet is that of a run, nil if one machine sent it.
func (w writer) fleet(run trace.Run) *Fleet {
	if run.Fleet == nil {
		return nil
	}
	f := &Fleet{Summary: report.FleetSummary(run, w.Language), MaxOffset: report.ClockOffset(run.Fleet, w.Language), Workers: []Worker{}}
	for _, of := range metrics.Workers(run) {
		one := Worker{
			Name: secret.Mask(doc.Clean(of.Name)), Zone: secret.Mask(doc.Clean(of.Zone)), Host: secret.Mask(doc.Clean(of.Host)),
			Requests: of.Requests, Records: of.Records, Validity: string(of.Validity()),
			Verdict: report.WorkerVerdict(of, w.Language), Why: secret.Mask(report.WorkerTrouble(of, w.Language)),
			Lag: known(of.Client.Lag.Reads > 0, of.Client.Lag.P99.Seconds()), CPU: known(of.Known(), of.CPU), Late: known(!of.IsLost(), of.Late.Seconds()),
			Clock: known(of.Clock.Bounded(), of.Clock.Bound.Seconds()), Drift: known(of.Clock.WasCompared(), 1e6*of.Clock.Drift),
		}
		if of.IsLost() {
			one.Validity = "lost"
		}
		f.Workers = append(f.Workers, one)
	}
	return f
}

// known is a number, or nil if it is not known.
func known(is bool, v float64) *float64 {
	if !is {
		return nil
	}
	return Number(v)
}

// withClockOffset adds the error of the clocks to the definition of a figure that compares those of several
// machines.
func (w writer) withClockOffset(definition, name string, f *trace.Fleet) string {
	if f == nil || name != "peak.concurrency" {
		return definition
	}
	return doc.Join(w.Word("list.stop"), definition, report.ClockOffset(f, w.Language))
}
