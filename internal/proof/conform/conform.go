// Package conform is what clients report of loads whose truth is known: the loads, the
// claims, and how far these are off. It holds results and no more; package verify makes
// them, and show/conformity shows them.
//
//	Cell ──> a client's report ──> Claim ──┐
//	  └────> the server's log ─────────────┴──> Result, of which a Report has many
//
// A Cell is one load: so many streams, tokens so far apart, spread or in lockstep. A
// Format is a tool whose reports are read, with that tool's definitions of TTFT, ITL,
// TPOT and E2EL: each tool is held against what it means, and what is left is error.
package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Report is a client's way through a grid.
type Report struct {
	Client  string    `json:"client"` // what to call it
	Command []string  `json:"command"`
	Started time.Time `json:"started"`
	Pitot   string    `json:"pitot"` // the version of the truth
	Machine Machine   `json:"machine"`
	// Format is that of the client's reports, empty as long as none was read;
	// Definitions are its own, of the figures below.
	Format      string                  `json:"format,omitempty"`
	Definitions map[Metric]plan.Message `json:"definitions,omitempty"`
	// StartUp is what a run of a single request cost; it is taken off the CPU time
	// of each cell.
	StartUp Usage    `json:"start_up"`
	Results []Result `json:"results"`
}

// Machine is where it happened.
type Machine struct {
	OS   string `json:"os"` // and architecture
	CPUs int    `json:"cpus"`
	// ClientCPU is the processor that the client was kept on, -1 for any.
	ClientCPU int `json:"client_cpu"`
}

// A Result is one run of a cell.
type Result struct {
	Cell   Cell `json:"cell"`
	Repeat int  `json:"repeat"` // from 0
	// Failure says what became of a client that gave no figures.
	Failure string   `json:"failure,omitempty"`
	Stderr  []string `json:"stderr,omitempty"` // its last lines, of a failure
	Claim   *Claim   `json:"claim,omitempty"`  // what it reports; nil of a failure

	Figures []Figure `json:"figures,omitempty"`
	// Precision is that of single instants; nil where the client does not keep them.
	Precision *Precision `json:"precision,omitempty"`
	Requests  Requests   `json:"requests"`
	Tokens    Tokens     `json:"tokens"`
	Rate      Rate       `json:"rate"`
	Usage     Usage      `json:"usage"`
	Server    Server     `json:"server"`
	// Others is how many processors other processes used meanwhile, -1 where that
	// is not known.
	Others float64        `json:"others"`
	Notes  []plan.Message `json:"notes,omitempty"`
}

// maxOthers is how many processors others may use without a word.
const maxOthers = 0.2

// Disturbed reports whether other processes took so much of the machine that they may
// have set the figures.
func (r Result) Disturbed() bool { return r.Others > maxOthers }

// A Figure is one number of the client's beside the true one, in seconds.
type Figure struct {
	Metric    Metric    `json:"metric"`
	Statistic Statistic `json:"statistic"`
	Claimed   float64   `json:"claimed"`
	True      float64   `json:"true"`
	N         int       `json:"n"` // values in the true sample
	// Bound is what the client says that the true figure lies within, nil where it
	// has none; Void that it is not to be believed, by the client's own account.
	Bound *Bound `json:"bound,omitempty"`
	Void  bool   `json:"void,omitempty"`
}

// stampNoise is how far the instants of server and client differ for the same
// token, without anybody's fault: between them lie two system calls.
const stampNoise = 50e-6

// Held reports whether the true figure lies within the client's bound.
func (f Figure) Held() bool {
	return f.Bound != nil && f.True >= f.Bound.Low-stampNoise && f.True <= f.Bound.High+stampNoise
}

// Error is how far the client is off, in seconds.
func (f Figure) Error() float64 { return f.Claimed - f.True }

// Relative is the error as a share of what is true; false where that is 0.
func (f Figure) Relative() (share float64, ok bool) {
	if f.True == 0 {
		return 0, false
	}
	return f.Error() / f.True, true
}

// Precision is how near every single instant of a client is to the truth, where the
// client keeps them all: Pitot does.
type Precision struct {
	Answers int `json:"answers"` // whose chunks are the server's writes, one by one
	Chunks  int `json:"chunks"`
	Exact   int `json:"exact"` // of them, that have an instant of their own
	// Gap is the error of the gaps between two exact chunks, TTFT that of the first
	// ones that are exact; both without their sign.
	Gap  Errors `json:"gap"`
	TTFT Errors `json:"ttft"`
	// Held is the share of all gaps that lie within the bounds which the client
	// gives them; an exact chunk's are those of its instant and a stamp's noise.
	Held float64 `json:"held"`
}

// Errors are a distribution of errors, in seconds.
type Errors struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Max    float64 `json:"max"`
}

// Requests are the requests that were measured. Where client and server count
// alike nothing was lost or invented.
type Requests struct {
	Asked    int `json:"asked"`     // of the client, by the cell
	Served   int `json:"served"`    // answered to the end
	Broken   int `json:"broken"`    // ended badly by the server's faults, or left by the client
	SetAside int `json:"set_aside"` // others, before the measured ones: trials and warm-up
	Peak     int `json:"peak"`      // of them, open at once
	// OK and Failed are the client's counts, -1 where it does not tell.
	OK     int `json:"ok"`
	Failed int `json:"failed"`
}

// Tokens are those of the answers that were served whole.
type Tokens struct {
	Written int `json:"written"`
	Claimed int `json:"claimed"` // -1 where the client does not tell
}

// Rate is that of the arrivals at the server, in requests a second.
type Rate struct {
	Asked   float64 `json:"asked,omitempty"` // 0 in a closed loop
	Offered float64 `json:"offered"`         // gaps between the measured requests, per second
}

// Usage is what the client's process used, with all that it started and waited
// for.
type Usage struct {
	CPU    time.Duration `json:"cpu_ns"`
	Memory int64         `json:"memory"` // bytes, peak of the largest process
	Wall   time.Duration `json:"wall_ns"`
	// PerToken is the CPU time for each token written, in seconds, without that
	// of a run of one request; 0 where there were no tokens.
	PerToken float64 `json:"per_token,omitempty"`
	// Share is of one processor, while the measured requests were open; 0 where it is
	// not known.
	Share float64 `json:"share,omitempty"`
}

// Server is how the server of truth itself did.
type Server struct {
	LatenessP50 time.Duration `json:"lateness_p50_ns"`
	LatenessP99 time.Duration `json:"lateness_p99_ns"`
	LatenessMax time.Duration `json:"lateness_max_ns"`
	CPU         float64       `json:"cpu"` // share of the time in which it was writing, while requests were open
	// Limit says why the server, not the client, may have set the figures; zero if it
	// did not.
	Limit plan.Message `json:"limit,omitzero"`
}

// ReadReports reads one report, or a list of them. Definitions are today's, also of a
// report that has them in other words.
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
			reports[i].Definitions = f.Definitions()
		}
	}
	return reports, nil
}
