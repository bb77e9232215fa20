// Package view is what a page shows of stored runs, as data: each type is the JSON answer to one
// question of the page, and the same JSON stands in a report that is one file.
//
//	store ──> Row                         a run in a list
//	     ├──> Run                         a run without its requests
//	     ├──> Course, Rows, Request       its requests: over time, one bar each, one in full
//	     ├──> Comparison, Experiment      variants held against each other
//	     └──> Sweep, Conformity, Note     many loads, a client's errors, the lab note
//
// Numbers are SI: seconds, tokens, bytes; the page scales them. Sentences are in the language
// that was asked for, and the page shows them as text; only a Note is markup. A number that is not
// known is null. web/src/lib/net/types.ts has the same types for the page; a test writes it.
//
//	records, in the order of their commits ──> Digest ──> Course    over time, distributions
//	                                                 ├──> Rows      one bar for each request
//	                                                 ├──> Select    the requests of a table
//	                                                 └──> Figures   while none are stored
//
// A Digest reads a run once, record by record, and holds columns of numbers and counts over time: a
// run of a million requests with 64 chunks each takes about 100 MB; its chunks are never held. It
// answers at any time with what has been added. Latencies are by Pitot's definitions (package
// metrics) and exact, but for gaps between chunks, which are counted in bins less than one percent
// wide.
package view

import (
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Row is a run in a list.
type Row struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`     // measured, simulated, imported
	Status   string `json:"status"`   // running, complete, interrupted, killed
	Validity string `json:"validity"` // valid, doubtful, invalid; empty: not judged
	Started  string `json:"started"`  // RFC 3339; empty if unknown
	Model    string `json:"model"`
	URL      string `json:"url"`
	Dialect  string `json:"dialect"`
	Load     string `json:"load"` // in words
	Requests int    `json:"requests"`
	Records  int    `json:"records"`
	Failed   int    `json:"failed"` // -1 if unknown
	// Concurrency and Rate are the limits of the load; 0: none.
	Concurrency int      `json:"concurrency"`
	Rate        float64  `json:"rate"`
	Experiment  string   `json:"experiment"` // empty: on its own
	Variant     string   `json:"variant"`
	Tags        []string `json:"tags"`
	Remark      string   `json:"remark"`
	// Figures are some figures by name, if known: ttft.mean, ttft.p99, tpot.mean, itl.p99,
	// throughput.output, throughput.requests.
	Figures map[string]float64 `json:"figures"`
	// Group is set where the row stands for the runs of an experiment, a sweep or a search, of which it
	// is the newest: it has no figures then. Null: it is a run.
	Group *RunGroup `json:"group"`
}

// A RunGroup is the runs of an experiment, a sweep or a search, as far as a question selects them.
type RunGroup struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`   // experiment, sweep, capacity; empty: not known
	Status   string `json:"status"` // of that; failed is one that did not come to its end
	Runs     int    `json:"runs"`
	Valid    int    `json:"valid"` // of the runs
	Doubtful int    `json:"doubtful"`
	Invalid  int    `json:"invalid"`
	Loads    int    `json:"loads"` // how many different ones the runs have
	Models   int    `json:"models"`
}

// Runs are a part of the list of runs that a question selects: by default the newest first.
//
// Parameters of the question, each of which narrows the selection:
//
//	q           words, each in the name, id, model, a tag or the remark
//	model       a model, or a pattern with * and ?
//	load        words, each in the load as it is displayed
//	verdict     valid, doubtful or invalid
//	status      running, complete, interrupted or killed
//	kind        measured, simulated or imported
//	tag         a tag; may be repeated, the run then has all of them
//	experiment  the name of an experiment
//	since       a date (2026-01-31), an instant, or a time until now (24h, 7d)
//	until       the same; of a date, its end
//	group       1: the runs of an experiment, a sweep or a search are one row
//
// and of the answer: sort (a name such as started, name, ttft.p99; -name is descending; -started if
// not given), offset, limit (50; at most 1000), lang.
type Runs struct {
	Total  int   `json:"total"` // rows of the selection
	Runs   int   `json:"runs"`  // of the selection, those of a group each
	Stored int   `json:"stored"`
	Offset int   `json:"offset"`
	Rows   []Row `json:"rows"`
	// Models, Tags, Experiments and Loads are those of all stored runs, to choose from: the most
	// used first, at most 200.
	Models      []string `json:"models"`
	Tags        []string `json:"tags"`
	Experiments []string `json:"experiments"`
	Loads       []string `json:"loads"` // as they are displayed
}

// A Sparkline is the throughput of a run over its time, in tokens per second, at most 40 values.
type Sparkline struct {
	ID     string    `json:"id"`
	Values []float64 `json:"values"`
}

// Labels are what people wrote about a run: the body of POST /api/runs/{id}/labels, of which each
// member that is there replaces what was, and its answer, as they are stored.
type Labels struct {
	Tags   []string `json:"tags"`   // at most 50, of at most 64 characters
	Remark string   `json:"remark"` // at most 10000 characters
}

// Changes say what happened to the list of runs: event runs of /api/events.
type Changes struct {
	Stored      int      `json:"stored"`
	Added       []string `json:"added"`   // ids
	Changed     []string `json:"changed"` // in their status or labels
	Removed     []string `json:"removed"`
	Experiments []string `json:"experiments"` // names of those that were changed
}

// Progress is how far a run has come: event progress of /api/events?run=ID, at least every second
// while the run goes on, and once when it has ended.
type Progress struct {
	ID       string `json:"id"`
	Status   string `json:"status"`   // as in Row, or removed
	Requests int    `json:"requests"` // planned
	Records  int    `json:"records"`  // stored by now
	Failed   int    `json:"failed"`   // of the records; -1 if unknown
	// At is when the rest was so, in seconds since the start of the run; null: it has not begun, or
	// does not say.
	At       *float64 `json:"at"`
	Released int      `json:"released"`
	Done     int      `json:"done"` // of those released, failed ones included
	InFlight int      `json:"in_flight"`
	Tokens   int      `json:"tokens"` // output tokens received
}

// Hello is what the page has to know first.
type Hello struct {
	Version   string            `json:"version"`
	Store     string            `json:"store"` // the name of its file
	Write     bool              `json:"write"` // tags and remarks may be written
	Language  string            `json:"language"`
	Languages []string          `json:"languages"`
	Words     map[string]string `json:"words"` // of the page, by code without "page."
}

// NewRow makes the row of a listed run, without figures.
func NewRow(l store.Listing, lang *words.Language) Row {
	row := Row{
		ID: l.ID, Name: l.Name, Kind: string(l.Kind), Status: string(l.Status), Validity: string(l.Validity),
		Model: l.Model, URL: l.URL, Dialect: l.Dialect, Load: report.Load(l.Plan(), lang),
		Requests: l.Requests, Records: l.Records, Failed: l.Failed, Concurrency: l.Concurrency, Rate: l.Rate,
		Tags: l.Tags, Remark: l.Remark, Figures: map[string]float64{},
	}
	if !l.Started.IsZero() {
		row.Started = l.Started.Format(time.RFC3339)
	}
	if l.Leg != nil {
		row.Experiment, row.Variant = l.Leg.Experiment, l.Leg.Variant
	}
	return row
}

// NewProgress is how far a stored run has come.
func NewProgress(p store.Pulse) Progress {
	out := Progress{
		ID: p.ID, Status: string(p.Status), Requests: p.Requests, Records: p.Records, Failed: p.Failed,
		Released: p.Last.Released, Done: p.Last.Done, InFlight: p.Last.InFlight(), Tokens: p.Last.Tokens,
	}
	if p.Last.At.Happened() {
		at := p.Last.At.Seconds()
		out.At = &at
	}
	return out
}

// A Note is a lab note. Its HTML is a part of a page in which all text is escaped: the only answer that
// the page shows as markup.
type Note struct {
	Title    string `json:"title"`
	Markdown string `json:"markdown"`
	HTML     string `json:"html"`
	// Refused says why there is none; null: there is.
	Refused *Refused `json:"refused"`
	Command string   `json:"command"` // that writes it
}
