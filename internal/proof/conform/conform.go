// Package conform describes the accuracy of clients under loads with known true
// figures: the loads, the clients' claims, and their errors. It only holds results;
// package verify produces them, and show/conformity displays them.
//
//	Cell ──> a client's report ──> Claim ──┐
//	  └────> the server's log ─────────────┴──> Result, of which a Report has many
//
// A Cell is one load: a number of streams with a time between tokens, spread or in
// lockstep. A Format is a tool with readable reports and its definitions of TTFT,
// ITL, TPOT and E2EL: each tool is compared by its own definitions, so the
// remaining difference is error.
package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// A Report is the result of a client over a grid.
type Report struct {
	Client  string    `json:"client"` // its display name
	Command []string  `json:"command"`
	Started time.Time `json:"started"`
	Pitot   string    `json:"pitot"` // the version of the server
	Machine Machine   `json:"machine"`
	// Format is the format of the client's reports, empty until one was read;
	// Definitions are its own, of the figures below.
	Format      string                  `json:"format,omitempty"`
	Definitions map[Metric]plan.Message `json:"definitions,omitempty"`
	// StartUp is the cost of a run with a single request; it is subtracted from the
	// CPU time of each cell.
	StartUp Usage    `json:"start_up"`
	Results []Result `json:"results"`
}

// Machine describes the machine.
type Machine struct {
	OS   string `json:"os"` // and architecture
	CPUs int    `json:"cpus"`
	// ClientCPU is the processor to which the client was pinned, -1 for any.
	ClientCPU int `json:"client_cpu"`
}

// A Result is one run of a cell.
type Result struct {
	Cell   Cell `json:"cell"`
	Repeat int  `json:"repeat"` // from 0
	// Failure says what happened to a client that gave no figures.
	Failure string   `json:"failure,omitempty"`
	Stderr  []string `json:"stderr,omitempty"` // its last lines, of a failure
	Claim   *Claim   `json:"claim,omitempty"`  // its report; nil after a failure

	Figures []FigureError `json:"figures,omitempty"`
	// Precision is that of single timestamps; nil if the client does not record
	// them.
	Precision *Precision `json:"precision,omitempty"`
	Requests  Requests   `json:"requests"`
	Tokens    Tokens     `json:"tokens"`
	Rate      Rate       `json:"rate"`
	Usage     Usage      `json:"usage"`
	Server    ServerPace `json:"server"`
	// Others is the number of processors that other processes used during the run,
	// -1 if unknown.
	Others float64        `json:"others"`
	Notes  []plan.Message `json:"notes,omitempty"`
}

// maxOthers is the number of processors that others may use without a remark.
const maxOthers = 0.2

// Disturbed reports whether other processes used so much of the machine that they
// may have affected the figures.
func (r Result) Disturbed() bool { return r.Others > maxOthers }

// A FigureError is one number of the client's next to the true one, in seconds.
type FigureError struct {
	Metric    Metric    `json:"metric"`
	Statistic Statistic `json:"statistic"`
	Claimed   float64   `json:"claimed"`
	True      float64   `json:"true"`
	N         int       `json:"n"` // values in the true sample
	// Bound encloses the true figure by the client's own account, nil if it has
	// none; Void means that the client itself marks the figure as invalid.
	Bound *Bound `json:"bound,omitempty"`
	Void  bool   `json:"void,omitempty"`
}

// stampNoise is the inherent difference between the timestamps of server and client
// for the same token: two system calls lie between them.
const stampNoise = 50e-6

// InBounds reports whether the client's bound contains the true figure.
func (f FigureError) InBounds() bool {
	return f.Bound != nil && f.True >= f.Bound.Low-stampNoise && f.True <= f.Bound.High+stampNoise
}

// Error is the client's error in seconds.
func (f FigureError) Error() float64 { return f.Claimed - f.True }

// Relative is the error as a share of the true figure; false if that is 0.
func (f FigureError) Relative() (share float64, ok bool) {
	if f.True == 0 {
		return 0, false
	}
	return f.Error() / f.True, true
}

// Precision is the accuracy of every single timestamp of a client that records them
// all, such as Pitot.
type Precision struct {
	Answers int `json:"answers"` // with chunks that match the server's writes one by one
	Chunks  int `json:"chunks"`
	Exact   int `json:"exact"` // of them, with an exact timestamp
	// Gap is the error of the gaps between two exact chunks, TTFT that of exact
	// first chunks; both absolute.
	Gap  Errors `json:"gap"`
	TTFT Errors `json:"ttft"`
	// InBounds is the share of all gaps within the client's bounds; the bounds of an
	// exact chunk are its timestamp and a stamp's noise.
	InBounds float64 `json:"held"`
}

// Errors are a distribution of errors, in seconds.
type Errors struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Max    float64 `json:"max"`
}

// Requests counts the measured requests. If client and server agree nothing was
// lost or invented.
type Requests struct {
	Asked    int `json:"asked"`     // by the cell, of the client
	Served   int `json:"served"`    // answered to the end
	Broken   int `json:"broken"`    // failed by the server's faults, or abandoned by the client
	SetAside int `json:"set_aside"` // others, before the measured ones: trials and warm-up
	Peak     int `json:"peak"`      // of them, open at once
	// OK and Failed are the client's counts, -1 if unreported.
	OK     int `json:"ok"`
	Failed int `json:"failed"`
}

// Tokens counts those of the complete answers.
type Tokens struct {
	Written int `json:"written"`
	Claimed int `json:"claimed"` // -1 if unreported
}

// Rate is that of the arrivals at the server, in requests per second.
type Rate struct {
	Asked   float64 `json:"asked,omitempty"` // 0 in a closed loop
	Offered float64 `json:"offered"`         // gaps between the measured requests, per second
}

// Usage is the resource usage of the client's process, with all processes that it
// started and waited for.
type Usage struct {
	CPU    time.Duration `json:"cpu_ns"`
	Memory int64         `json:"memory"` // bytes, peak of the largest process
	Wall   time.Duration `json:"wall_ns"`
	// PerToken is the CPU time per token written, in seconds, less that of a run
	// with one request; 0 without tokens.
	PerToken float64 `json:"per_token,omitempty"`
	// Share is the share of one processor while the measured requests were open; 0
	// if unknown.
	Share float64 `json:"share,omitempty"`
}

// ServerPace describes the truth server's own performance.
type ServerPace struct {
	LatenessP50 time.Duration `json:"lateness_p50_ns"`
	LatenessP99 time.Duration `json:"lateness_p99_ns"`
	LatenessMax time.Duration `json:"lateness_max_ns"`
	CPU         float64       `json:"cpu"` // share of the time spent writing while requests were open
	// Limit says why the server, not the client, may have determined the figures;
	// zero if it did not.
	Limit plan.Message `json:"limit,omitzero"`
}

// ReadReports reads one report, or a list of them. It replaces definitions worded
// differently in old reports with today's.
func ReadReports(data []byte) (reports []Report, err error) {
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte("{")) {
		data = append(append([]byte("["), data...), ']')
	}
	if err := json.Unmarshal(data, &reports); err != nil {
		return nil, fmt.Errorf("it is no result of conform: %w", err)
	}
	for i, r := range reports {
		if r.Client == "" || len(r.Results) == 0 {
			return nil, errors.New("it is no result of conform")
		}
		if f, ok := FormatNamed(r.Format); ok {
			reports[i].Definitions = Definitions(f)
		}
	}
	return reports, nil
}

// A Claim is a client's report of a run.
type Claim struct {
	Format string `json:"format"`
	// OK and Failed count requests, Output the tokens of the successful ones; -1 if
	// unreported.
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Output int `json:"output_tokens"`
	// Latencies are in seconds. Unreported ones are absent.
	Latencies map[Metric]Latency `json:"latencies"`
	// Merged is the share of tokens that the client read too late to separate, nil
	// if unreported. Bounds enclose figures by the client's own account, and for a
	// metric in Void the client says that only the mean can be trusted.
	Merged *float64                       `json:"merged,omitempty"`
	Bounds map[Metric]map[Statistic]Bound `json:"bounds,omitempty"`
	Void   []Metric                       `json:"void,omitempty"`
	// Verdict is the client's verdict on its own run: valid, doubtful or invalid;
	// empty if it has none.
	Verdict string         `json:"verdict,omitempty"`
	Reasons []plan.Message `json:"reasons,omitempty"`
	Notes   []plan.Message `json:"notes,omitempty"` // the report's own reservations about its figures
}

// A Bound encloses a figure, in seconds.
type Bound struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Latency is a distribution by its reported statistics.
type Latency map[Statistic]float64

// Sent is the number of requests that the client reports, -1 if unreported.
func (c Claim) Sent() int {
	if c.OK < 0 {
		return -1
	}
	return c.OK + max(0, c.Failed)
}

// A Metric is a latency reported by tools.
type Metric = figure.Metric

// The metrics.
const (
	TTFT = figure.TTFT
	ITL  = figure.ITL
	ICL  = figure.ICL
	TPOT = figure.TPOT
	E2EL = figure.E2EL
)

// Metrics lists them.
func Metrics() []Metric { return []Metric{TTFT, ITL, ICL, TPOT, E2EL} }

// A Statistic is one number of a distribution.
type Statistic string

// The compared statistics.
const (
	Mean   Statistic = "mean"
	Median Statistic = "median"
	P90    Statistic = "p90"
	P99    Statistic = "p99"
)

// Statistics lists them.
func Statistics() []Statistic { return []Statistic{Mean, Median, P90, P99} }

// Formats lists the tools that have reports to compare with the server's own: Pitot, and each of the known ones that
// says what its latencies are of a server's writes.
func Formats() []metrics.Definitions {
	all := append(metrics.Rules{metrics.PitotDefinitions()}, known.Rules()...)
	return slices.DeleteFunc(all, func(d metrics.Definitions) bool { return d.Truth == nil })
}

// Definitions returns the definitions of a format, as stored in a report.
func Definitions(f metrics.Definitions) map[Metric]plan.Message {
	all := map[Metric]plan.Message{}
	for m, code := range f.Truth {
		all[m] = plan.Msg(code)
	}
	return all
}

// FormatNamed returns the format with that name.
func FormatNamed(name string) (metrics.Definitions, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(d metrics.Definitions) bool { return d.Tool == name })
	if i < 0 {
		return metrics.Definitions{}, false
	}
	return all[i], true
}

// FormatNames lists the names.
func FormatNames() (names []string) {
	for _, d := range Formats() {
		names = append(names, d.Tool)
	}
	return names
}
