package scrape

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// A Row says what a foreign series is called here. Of several rows for one series of ours the
// first counts that the page has, unless they are terms of a sum.
type Row struct {
	Foreign string // as printed; a colon and an underscore behind the prefix are the same
	Name    string // one of telemetry.Names
	Factor  float64
	// Labels are those that are kept, as words: "cpu" as it is, "gpu=device" under another name,
	// "gpu.part=device" joined by a dot unless the second is absent or 0, "+resource=io" a new one.
	// Series that are then the same are folded into one.
	Labels string
	// Only are conditions, all of which hold, as words: "mode=decode", "mode!=idle". A series
	// without the label meets both.
	Only string
	Fold Fold
	Term bool // of a sum, with the rows of this name beside it; without one of them there is none
	Else bool // counts only in pages in which no row before it has the name: another way to count
	Form Form
}

// A Fold makes one value of those of series that differ only in labels which are not kept.
type Fold string

// The folds of values.
const (
	Sum  Fold = ""     // of parts
	Most Fold = "most" // the largest: shares of several parts, or one thing told several times
)

// A Form says where the value of a row is, if it is not that of the sample.
type Form string

// The forms of a row.
const (
	Plain    Form = ""
	Positive Form = "positive" // known only if above 0: what always draws power, has memory ...
	Bits     Form = "bits"     // a set of reasons, see reasons
	Above    Form = "above"    // 1 if above 0, else 0
	Cache    Form = "cache"    // the product of the labels block_size and num_gpu_blocks
)

// reasons are bits of NVIDIA's clocks event reasons that hold clocks down, by what
// telemetry.DeviceThrottled calls them (nvmlClocksEventReason... in nvml.h). Clocks that are low
// since the device is idle, since somebody set them, for a display or in step with others are
// none.
var reasons = []struct {
	bit  uint64
	name string
}{{0x04, telemetry.ThrottledSWPower}, {0x08, telemetry.ThrottledHWSlowdown}, {0x20, telemetry.ThrottledSWThermal}, {0x40, telemetry.ThrottledHWThermal}, {0x80, telemetry.ThrottledPowerBrake}}

// Blank values of DCGM: each and the few above it mean that there is none (DCGM_INT32_BLANK and
// so on in dcgm_structs.h).
const (
	blank32  = 2147483632
	blank64  = 9223372036854775792
	blankFP  = 140737488355328
	blankFew = 16
)

// rows are all rows.
var rows = slices.Concat(servers, machines)

// index has the rows of each foreign series.
var index = func() map[string][]int {
	m := map[string][]int{}
	for i, r := range rows {
		m[canonical(r.Foreign)] = append(m[canonical(r.Foreign)], i)
	}
	return m
}()

// canonical is a name with an underscore behind its prefix: routers, and programs that know no
// colons in names, write vllm_num_requests_running.
func canonical(name string) string { return strings.Replace(name, ":", "_", 1) }

// A mapping makes our values of pages.
type mapping struct {
	keep []string // patterns of series without a row
	out  map[place]*value
	bad  string // a series that was not a number
}

// A place is a series of ours and the rows that it is by: one, or terms of a sum. Beyond all
// rows stands what is kept by pattern.
type place struct {
	series string
	by     int // the first of the rows
}

// A value is made of one or more samples.
type value struct {
	collect.Value
	lacks int // rows, as a set from the first
	stamp time.Time
}

// values maps the samples of a page, in order of names and labels. A doubt names a series whose
// value is no number.
func (m *mapping) values(samples []exposition.Sample) (out []*value, doubt plan.Message) {
	m.out, m.bad = map[place]*value{}, ""
	for _, s := range samples {
		all, known := index[canonical(s.Name)]
		for _, i := range all {
			m.row(i, s)
		}
		if !known && m.keeps(s.Name) {
			m.add(len(rows), s, collect.Value{Name: s.Name, Labels: s.Labels, Kind: kind(s), Value: s.Value}, Sum)
		}
	}
	last, names := "", m.names()
	for _, p := range slices.SortedFunc(maps.Keys(m.out), func(a, b place) int {
		return cmp.Or(strings.Compare(a.series, b.series), cmp.Compare(a.by, b.by))
	}) {
		v := m.out[p]
		other := p.by < len(rows) && rows[p.by].Else && names[v.Name] < p.by
		if v.lacks == 0 && p.series != last && !other {
			out, last = append(out, v), p.series
		}
	}
	if m.bad != "" {
		doubt = plan.Say(collect.NotANumber, "series", m.bad)
	}
	return out, doubt
}

// names has the first row by which there are values of each name.
func (m *mapping) names() map[string]int {
	first := map[string]int{}
	for p, v := range m.out {
		if had, ok := first[v.Name]; v.lacks == 0 && (!ok || p.by < had) {
			first[v.Name] = p.by
		}
	}
	return first
}

// keeps reports whether a series without a row is wanted. When a series was created is not.
func (m *mapping) keeps(name string) bool {
	return !strings.HasSuffix(name, "_created") && slices.ContainsFunc(m.keep, func(pattern string) bool {
		ok, err := path.Match(canonical(pattern), canonical(name))
		return ok && err == nil
	})
}

func kind(s exposition.Sample) telemetry.Kind {
	if s.Counter {
		return telemetry.Counter
	}
	return telemetry.Gauge
}

// row adds what a row makes of a sample.
func (m *mapping) row(i int, s exposition.Sample) {
	r := rows[i]
	if !r.meets(s.Labels) {
		return
	}
	v := collect.Value{Name: r.Name, Labels: r.labels(s.Labels), Value: s.Value * cmp.Or(r.Factor, 1)}
	switch {
	case r.blank(s.Value):
		return
	case r.Form == Bits:
		m.bits(i, s, v)
		return
	case r.Form == Above:
		v.Value = truth(s.Value > 0)
	case r.Form == Cache:
		blocks, size := count(s.Labels["num_gpu_blocks"]), count(s.Labels["block_size"])
		if v.Value = blocks * size; v.Value == 0 {
			return
		}
	}
	m.add(i, s, v, r.Fold)
}

// blank reports whether a number of a row means that there is none.
func (r Row) blank(v float64) bool {
	if r.Form == Positive && v <= 0 {
		return true
	}
	if !strings.HasPrefix(r.Foreign, "DCGM_") {
		return strings.HasPrefix(r.Foreign, "npu_") && v < 0 || strings.HasPrefix(r.Foreign, "amd_") && v < 0
	}
	for _, from := range []float64{blank32, blankFP, blank64} {
		if v >= from && v < from+blankFew || v == from {
			return true
		}
	}
	return false
}

// bits adds a value for each reason.
func (m *mapping) bits(i int, s exposition.Sample, v collect.Value) {
	if !(s.Value >= 0 && s.Value < 1<<53) {
		return
	}
	device := v.Labels
	for _, reason := range reasons {
		v.Labels = maps.Clone(device)
		v.Labels["reason"] = reason.name
		v.Value = truth(uint64(s.Value)&reason.bit != 0)
		m.add(i, s, v, Most)
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// add folds a value into those of its series.
func (m *mapping) add(i int, s exposition.Sample, v collect.Value, fold Fold) {
	if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
		m.bad = cmp.Or(m.bad, s.Name)
		return
	}
	first, all := terms(i)
	bit := 1 << (i - first)
	at := place{telemetry.Key{Name: v.Name, Labels: v.Labels}.String(), first}
	had := m.out[at]
	switch {
	case had == nil:
		m.out[at] = &value{v, all &^ bit, s.Stamp}
	case had.lacks&bit != 0:
		had.lacks &^= bit
		had.Value.Value += v.Value
	case fold == Sum:
		had.Value.Value += v.Value
	case all == 1: // one thing told twice, as a term of a sum, counts once
		had.Value.Value = max(had.Value.Value, v.Value)
	}
}

// terms are the rows that make a value together with row i: the first, and all as a set from it.
func terms(i int) (first, all int) {
	if i >= len(rows) || !rows[i].Term {
		return i, 1
	}
	with := func(j int) bool { return j >= 0 && j < len(rows) && rows[j].Term && rows[j].Name == rows[i].Name }
	for first = i; with(first - 1); first-- {
	}
	for j := first; with(j); j++ {
		all |= 1 << (j - first)
	}
	return first, all
}

// meets reports whether a series meets the conditions of a row.
func (r Row) meets(labels map[string]string) bool {
	for word := range strings.FieldsSeq(r.Only) {
		name, want, _ := strings.Cut(word, "=")
		name, not := strings.CutSuffix(name, "!")
		if value, has := labels[name]; has && (value == want) == not {
			return false
		}
	}
	return true
}

// labels are those that a row keeps.
func (r Row) labels(of map[string]string) telemetry.Labels {
	out := telemetry.Labels{}
	for word := range strings.FieldsSeq(r.Labels) {
		from, to, renamed := strings.Cut(word, "=")
		if name, fixed := strings.CutPrefix(from, "+"); fixed {
			out[name] = to
			continue
		}
		if !renamed {
			to = from
		}
		whole, part, _ := strings.Cut(from, ".")
		value, has := of[whole]
		if p := of[part]; part != "" && p != "" && p != "0" {
			value += "." + p
		}
		if has {
			out[to] = value
		}
	}
	return out
}
