package compare

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Definition names the observations by some rules, and their version, for whoever stores their parts; empty for rules of
// other tools.
func Definition(by []RuleSource) (definition, version string) {
	if len(by) != 1 || by[0].Tool != metrics.Pitot || by[0].Form != "" {
		return "", ""
	}
	return "compare " + metrics.Pitot, metrics.Version + "." + partsVersion
}

// partsVersion is that of Parts.
const partsVersion = "1"

// A storedRun is a ComparedRun without its run and the pulls on its figures.
type storedRun struct {
	Requests     uint64
	KeptUp       bool
	Failed, Sent float64
	Figures      []storedFigure
}

type storedFigure struct {
	trace.ReportedFigure
	Low, High  float64
	Effective  float64
	Mean       stats.Estimate
	OfRequests bool
	N          int
	Factor     float64
	Plain      []float64
}

// The names of parts: of a storedRun, of the places of its requests in the workload, and before the name of a figure that
// its pull is on.
const (
	runPart   = "run"
	indexPart = "index"
	pullPart  = "pull "
)

// Parts are a run to be stored, for Restore; nil for one that is observed again as fast.
func (r *ComparedRun) Parts() map[string][]byte {
	s := storedRun{Requests: r.requests, KeptUp: r.keptUp, Failed: r.toll.failed, Sent: r.toll.sent}
	parts := map[string][]byte{}
	for _, f := range r.figures {
		w := f.influence
		one := storedFigure{
			ReportedFigure: f.ReportedFigure, Low: f.low, High: f.high,
			Effective: w.effective, Mean: w.mean, OfRequests: w.index != nil, N: w.pull.n, Factor: w.pull.factor, Plain: w.pull.plain,
		}
		if w.pull.packed != nil {
			parts[pullPart+f.Name] = w.pull.packed
		}
		if w.pull.packed != nil && parts[indexPart] == nil {
			parts[indexPart] = packIndex(w.index)
		}
		s.Figures = append(s.Figures, one)
	}
	var b bytes.Buffer
	if len(parts) < 2 || gob.NewEncoder(&b).Encode(s) != nil {
		return nil
	}
	parts[runPart] = b.Bytes()
	return parts
}

// Restore is the observation of a run by Pitot's rules that was stored in parts; false: they are damaged, or there are none.
// What is only wanted of requests in pairs is read when it is.
func Restore(run trace.Run, parts map[string]func() []byte, rules metrics.Rules) (ComparedRun, bool) {
	var s storedRun
	if parts[runPart] == nil || parts[indexPart] == nil {
		return ComparedRun{}, false
	}
	if gob.NewDecoder(bytes.NewReader(parts[runPart]())).Decode(&s) != nil {
		return ComparedRun{}, false
	}
	index, ok := unpackIndex(parts[indexPart]())
	if !ok {
		return ComparedRun{}, false
	}
	r := ComparedRun{run: run, silent: !reportsLimits(run, rules), requests: s.Requests, keptUp: s.KeptUp, toll: failureCount{s.Failed, s.Sent}}
	r.run.Probes = nil
	for _, f := range s.Figures {
		w := influence{effective: f.Effective, mean: f.Mean, pull: series{n: f.N, factor: f.Factor, plain: f.Plain, stored: parts[pullPart+f.Name]}}
		if f.OfRequests {
			w.index = index
		}
		if w.pull.stored == nil && len(w.pull.plain) != w.pull.n || f.OfRequests && len(index) != w.pull.n {
			return ComparedRun{}, false
		}
		r.figures = append(r.figures, runFigure{ReportedFigure: f.ReportedFigure, definition: rules.Definition(metrics.Pitot, f.Name), influence: w, low: f.Low, high: f.High})
	}
	return r, true
}

// packIndex compresses the differences of places.
func packIndex(index []int32) []byte {
	var b []byte
	last := int32(0)
	for _, v := range index {
		b = binary.AppendVarint(b, int64(v-last))
		last = v
	}
	return packer().EncodeAll(b, nil)
}

func unpackIndex(packed []byte) (index []int32, ok bool) {
	b, err := unpacker().DecodeAll(packed, nil)
	last := int64(0)
	for len(b) > 0 {
		v, n := binary.Varint(b)
		if last += v; n <= 0 || last < 0 || last > mostPlaces {
			return nil, false
		}
		index, b = append(index, int32(last)), b[n:]
	}
	return slices.Clip(index), err == nil
}

// mostPlaces is more than any run has requests.
const mostPlaces = 1 << 30
