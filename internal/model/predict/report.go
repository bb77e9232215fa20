package predict

import (
	"cmp"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Report is a prediction, or one for each of several values of a field.
type Report struct {
	Profile string `json:"profile"`
	Title   string `json:"title"`
	Load    string `json:"load"`
	// Calibrated: the profile states its accuracy; Runs and Steps count its evidence.
	Calibrated bool `json:"calibrated"`
	Runs       int  `json:"calibration_runs"`
	Steps      int  `json:"calibration_steps"`
	// Cache describes unknown settings of the prompt cache; empty if they do not matter.
	Cache string `json:"cache,omitempty"`
	// Doubts are reasons that the profile has not to trust it.
	Doubts []string `json:"doubts,omitempty"`
	// WhatIf are the fields that are set to other values than the profile has. Nothing of
	// that was validated.
	WhatIf []string `json:"what_if,omitempty"`
	// Others are runs of the same load to compare with the prediction, by name or id, and Kind is
	// their kind: measured, or simulated.
	Others []string      `json:"others,omitempty"`
	Kind   trace.RunKind `json:"others_kind,omitempty"`
	// Invalid is that one of them is: it shows its client, and not the server.
	Invalid bool   `json:"others_invalid,omitempty"`
	Field   string `json:"field,omitempty"` // that the rows differ in
	Rows    []Row  `json:"rows"`
	// Certain and Likely are the first values to meet all objectives, with all of the interval and
	// with the prediction; empty: none does, or there are no objectives.
	Certain string `json:"certain,omitempty"`
	Likely  string `json:"likely,omitempty"`
}

// A Row is the prediction with one value of a field.
type Row struct {
	Value string `json:"value,omitempty"`
	// Refused says what of the load is beyond what the calibration saw; there is no prediction
	// then. Extrapolated says it where one is wanted nevertheless.
	Refused      string `json:"refused,omitempty"`
	Extrapolated string `json:"extrapolated,omitempty"`
	*Prediction  `json:"prediction,omitempty"`
	Cost         *Cost `json:"cost,omitempty"` // nil without a price
}

// A Cost is the predicted cost of tokens, with the interval of that of output tokens.
type Cost struct {
	metrics.Cost
	Low  float64 `json:"per_million_output_low,omitempty"`
	High float64 `json:"per_million_output_high,omitempty"`
}

// SetPrice gives the last row its cost, of this many devices; 0: not known.
func (r *Report) SetPrice(price metrics.Price, devices int) {
	row := &r.Rows[len(r.Rows)-1]
	if price == 0 || row.Prediction == nil {
		return
	}
	output, total := row.figure(figure.OutputThroughput), row.figure(figure.TotalThroughput)
	row.Cost = &Cost{Cost: metrics.CostAt(price, devices, output.Point, total.Point)}
	row.Cost.Low, row.Cost.High = metrics.CostAt(price, devices, output.High, 0).Output, metrics.CostAt(price, devices, output.Low, 0).Output
}

// Add adds a row. A load that leaves the hull has no figures, unless it is extrapolated.
func (r *Report) Add(value string, p *Prediction, extrapolate bool) {
	row := Row{Value: value, Prediction: p}
	switch beyond := p.Hull.String(); {
	case extrapolate:
		row.Extrapolated = beyond
	case beyond != "":
		row.Refused, row.Prediction = beyond, nil
	}
	r.Rows = append(r.Rows, row)
	if row.Prediction == nil || len(p.Goals) == 0 {
		return
	}
	v := p.Verdict()
	if (v == Met || v == LikelyMet) && r.Likely == "" {
		r.Likely = value
	}
	if v == Met && r.Certain == "" {
		r.Certain = value
	}
}

// AddRuns names runs to compare with the predictions.
func (r *Report) AddRuns(traces []*trace.Trace) {
	for _, t := range traces {
		r.Others, r.Kind = append(r.Others, cmp.Or(t.Run.Name, t.Run.ID)), trace.Measured
		if t.Run.Kind == trace.Simulated {
			r.Kind = trace.Simulated
		}
		r.Invalid = r.Invalid || t.Run.Verdict != nil && t.Run.Verdict.Validity == trace.Invalid
	}
}

// Refused reports whether no row has a prediction, and what the first one says.
func (r *Report) Refused() (why string, all bool) {
	for _, row := range r.Rows {
		if row.Prediction != nil {
			return "", false
		}
	}
	return r.Rows[0].Refused, true
}
