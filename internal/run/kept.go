package run

import (
	"iter"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// mostKept is how many bytes the records of a simulation take in memory where they are stored too: about 80 000 of 64
// tokens.
const mostKept = 128 << 20

// The approximate sizes in memory.
const (
	recordSize = 600
	chunkSize  = 16
)

// kept are the records of a simulation: in memory unless they are stored and take too much.
type kept struct {
	elsewhere func() iter.Seq2[[]*trace.Record, error] // nil: nowhere
	most      int                                      // bytes
	n, size   int
	records   []*trace.Record
}

func (k *kept) add(r *trace.Record) {
	k.n++
	if k.size += recordSize + chunkSize*len(r.Chunks); k.elsewhere == nil || k.size <= k.most {
		k.records = append(k.records, r)
		return
	}
	k.records = nil
}

// stored are the records of a run that has Ended, nil if they are in memory.
func (k *kept) stored() metrics.Records {
	if len(k.records) == k.n {
		return nil
	}
	return metrics.Records(k.elsewhere())
}

// each are the records, some at a time.
func (r *Result) each() metrics.Records {
	if r.Stored != nil {
		return r.Stored
	}
	return func(yield func([]*trace.Record, error) bool) { yield(r.Trace.Records, nil) }
}
