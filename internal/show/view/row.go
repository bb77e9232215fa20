package view

import (
	"time"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

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
