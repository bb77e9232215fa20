package source

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// A Row maps a foreign series to a name here. Of several rows for one series of ours the first counts that the page
// has, unless they are terms of a sum.
type Row struct {
	Foreign string // as printed; a colon and an underscore behind the prefix are the same
	Name    string // one of telemetry.Names
	Factor  float64
	// Labels are those to keep, as words: "cpu" as it is, "gpu=device" under another name, "gpu.part=device" joined
	// by a dot unless the second is absent or 0, "+resource=io" a new one. Series that become equal are folded into
	// one.
	Labels string
	// Only are conditions, all of which hold, as words: "mode=decode", "mode!=idle". A series
	// without the label meets both.
	Only string
	Fold Fold
	Term bool // of a sum, with the other rows of this name; without one of them there is none
	Else bool // counts only in pages in which no row before it has the name: another way to count
	Form Form
}

// A Fold makes one value of series that differ only in dropped labels.
type Fold string

// The folds of values.
const (
	Sum  Fold = ""     // of parts
	Most Fold = "most" // the largest: shares of several parts, or one thing reported several times
)

// A Form says where the value of a row is, if it is not that of the sample.
type Form string

// The forms of a row.
const (
	Plain    Form = ""
	Positive Form = "positive" // known only if above 0: power, memory ...
	Bits     Form = "bits"     // a set of reasons, see reasons
	Above    Form = "above"    // 1 if above 0, else 0
	Zero     Form = "zero"     // 1 if 0, else 0
	Die      Form = "die"      // Positive, with the card of an NPU that is one of two dies, see cardOf
	Cache    Form = "cache"    // the product of the labels block_size and num_gpu_blocks
)

// scrapeReasons are the bits of NVIDIA's clocks event reasons that throttle, with their names in
// telemetry.DeviceThrottled (nvmlClocksEventReason... in nvml.h). Idle devices and clocks set by hand, for a
// display or in step with others are not throttled.
var scrapeReasons = []struct {
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

var rows = slices.Concat(servers, machines)

var index = func() map[string][]int {
	m := map[string][]int{}
	for i, r := range rows {
		name := string(canonical(nil, r.Foreign))
		m[name] = append(m[name], i)
	}
	return m
}()

// canonical appends a name with an underscore behind its prefix: routers, and programs that know no
// colons in names, write vllm_num_requests_running.
func canonical[T string | []byte](to []byte, name T) []byte {
	begin := len(to)
	to = append(to, name...)
	if at := bytes.IndexByte(to[begin:], ':'); at >= 0 {
		to[begin+at] = '_'
	}
	return to
}

// A mapping makes our values of the pages of a source. It keeps the values of the page before for
// the next one, so that a page like that costs no memory.
type mapping struct {
	keep    []string // patterns of series without a row
	all     map[string]*value
	found   []*value // those of the page
	page    int      // which one it is
	samples int      // that it has
	made    int      // places that no page before had
	bad     string   // a series that was not a number
	// nameless is a series of devices that does not name its device.
	nameless string
	full     bool // there are more series than are taken
	rows     map[string]int
	// The buffers below are reused.
	name, place []byte
	labels      exposition.Labels
}

// mostPlaces bounds the places of a page: series, each perhaps by several rows.
const mostPlaces = 2 * collect.MostSeries

// A value is made of one or more samples of a page. It is that of a series of ours, by one row or by
// the terms of a sum: by is the first of these rows. After all rows stand the series stored by pattern.
type value struct {
	collect.Value
	series string
	by     int
	page   int // the last one that had it
	lacks  int // rows, as a set from the first
	stamp  time.Time
}

func (m *mapping) begin() {
	if m.all == nil || len(m.all) > 2*mostPlaces {
		m.all = map[string]*value{}
	}
	m.found, m.samples, m.made, m.bad, m.nameless, m.full = m.found[:0], 0, 0, "", "", false
	m.page++
}

// wants reports whether something is made of a sample, by its name.
func (m *mapping) wants(name []byte) bool {
	m.samples++
	m.name = canonical(m.name[:0], name)
	return len(index[string(m.name)]) > 0 || m.selects(m.name)
}

func (m *mapping) take(s *exposition.Sample) {
	m.name = canonical(m.name[:0], s.Name)
	all := index[string(m.name)]
	for _, i := range all {
		m.row(i, s)
	}
	if len(all) == 0 && m.selects(m.name) {
		m.labels = append(m.labels[:0], s.Labels...)
		m.add(len(rows), s, s.Name, s.Value, Sum)
	}
}

// values are those of the page, in order of names and labels, valid until the next one. The doubts
// name a series with a value that is no number, and say that there are too many.
func (m *mapping) values() (out []*value, doubts []plan.Message) {
	slices.SortFunc(m.found, func(a, b *value) int {
		return cmp.Or(strings.Compare(a.series, b.series), cmp.Compare(a.by, b.by))
	})
	last := ""
	m.firstRows()
	for _, v := range m.found {
		other := v.by < len(rows) && rows[v.by].Else && m.rows[v.Name] < v.by
		if v.lacks != 0 || v.series == last || other {
			continue
		}
		if m.full = m.full || len(out) == collect.MostSeries; len(out) < collect.MostSeries {
			out, last = append(out, v), v.series
		}
	}
	if m.bad != "" {
		doubts = append(doubts, plan.Msg(collect.NotANumber, "series", m.bad))
	}
	if m.nameless != "" {
		doubts = append(doubts, plan.Msg(collect.NoDevice, "series", m.nameless))
	}
	if m.full {
		doubts = append(doubts, plan.Msg(collect.TooMany, "most", collect.MostSeries))
	}
	return out, doubts
}

// firstRows finds the first row by which there are values of each name.
func (m *mapping) firstRows() {
	if m.rows == nil {
		m.rows = map[string]int{}
	}
	clear(m.rows)
	for _, v := range m.found {
		if had, ok := m.rows[v.Name]; v.lacks == 0 && (!ok || v.by < had) {
			m.rows[v.Name] = v.by
		}
	}
}

// selects reports whether a series without a row is wanted, by its canonical name. When a series was
// created is not.
func (m *mapping) selects(name []byte) bool {
	return len(m.keep) > 0 && !bytes.HasSuffix(name, []byte("_created")) && slices.ContainsFunc(m.keep, func(pattern string) bool {
		ok, err := path.Match(string(canonical(nil, pattern)), string(name))
		return ok && err == nil
	})
}

func scrapeKind(s *exposition.Sample) telemetry.Kind {
	if s.Counter {
		return telemetry.Counter
	}
	return telemetry.Gauge
}

func (m *mapping) row(i int, s *exposition.Sample) {
	r := &rows[i]
	if r.blank(s.Value) || !r.meets(s.Labels) {
		return
	}
	m.labels = r.labels(m.labels[:0], s.Labels)
	if strings.Contains(r.Labels, "=device") && (len(m.labels) == 0 || m.labels[0].Name != "device" || m.labels[0].Value == "") {
		m.nameless = cmp.Or(m.nameless, s.Name)
		return
	}
	v := s.Value * cmp.Or(r.Factor, 1)
	switch r.Form {
	case Bits:
		m.bits(i, s)
		return
	case Above:
		v = truth(s.Value > 0)
	case Zero:
		v = truth(s.Value == 0)
	case Die:
		m.labels = append(m.labels, cardOf(s.Labels)...)
	case Cache:
		blocks, _ := s.Labels.Get("num_gpu_blocks")
		size, _ := s.Labels.Get("block_size")
		if v = count(blocks) * count(size); v == 0 {
			return
		}
	}
	m.add(i, s, r.Name, v, r.Fold)
}

// blank reports whether a number of a row means that there is none.
func (r *Row) blank(v float64) bool {
	if (r.Form == Positive || r.Form == Die) && v <= 0 {
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

func (m *mapping) bits(i int, s *exposition.Sample) {
	if !(s.Value >= 0 && s.Value < 1<<53) {
		return
	}
	device := len(m.labels)
	for _, reason := range scrapeReasons {
		m.labels = append(m.labels[:device], exposition.Label{Name: "reason", Value: reason.name})
		m.add(i, s, rows[i].Name, truth(uint64(s.Value)&reason.bit != 0), Most)
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// add folds a value into those of its series, which has the labels m.labels.
func (m *mapping) add(i int, s *exposition.Sample, name string, v float64, fold Fold) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		m.bad = cmp.Or(m.bad, s.Name)
		return
	}
	first, all := terms(i)
	bit := 1 << (i - first)
	had := m.at(first, name)
	switch {
	case had == nil:
	case had.page != m.page:
		had.page, had.lacks, had.stamp, had.Kind, had.Value.Value = m.page, all&^bit, s.Stamp, "", v
		if i == len(rows) {
			had.Kind = scrapeKind(s)
		}
		m.found = append(m.found, had)
	case had.lacks&bit != 0:
		had.lacks &^= bit
		had.Value.Value += v
	case fold == Sum:
		had.Value.Value += v
	case all == 1: // one thing reported twice, as a term of a sum, counts once
		had.Value.Value = max(had.Value.Value, v)
	}
}

// at is the value of the series with the labels m.labels, by a row; nil if there are too many.
func (m *mapping) at(by int, name string) *value {
	m.place = append(binary.AppendUvarint(m.place[:0], uint64(by)), name...)
	for _, l := range m.labels {
		m.place = append(append(append(append(m.place, 0), l.Name...), 0), l.Value...)
	}
	had := m.all[string(m.place)]
	if (had == nil || had.page != m.page) && len(m.found) >= mostPlaces {
		m.full = true
		return nil
	}
	if had == nil {
		labels := make(telemetry.Labels, len(m.labels))
		for _, l := range m.labels {
			labels[l.Name] = l.Value
		}
		had = &value{Value: collect.Value{Name: name, Labels: labels}, series: telemetry.Key{Name: name, Labels: labels}.String(), by: by}
		m.all[string(m.place)] = had
		m.made++
	}
	return had
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
func (r *Row) meets(labels exposition.Labels) bool {
	for word := range strings.FieldsSeq(r.Only) {
		name, want, _ := strings.Cut(word, "=")
		name, not := strings.CutSuffix(name, "!")
		if value, has := labels.Get(name); has && (value == want) == not {
			return false
		}
	}
	return true
}

func (r *Row) labels(to, of exposition.Labels) exposition.Labels {
	for word := range strings.FieldsSeq(r.Labels) {
		from, name, renamed := strings.Cut(word, "=")
		if fixed, ok := strings.CutPrefix(from, "+"); ok {
			to = append(to, exposition.Label{Name: fixed, Value: name})
			continue
		}
		if !renamed {
			name = from
		}
		whole, part, _ := strings.Cut(from, ".")
		value, has := of.Get(whole)
		if p, _ := of.Get(part); part != "" && p != "" && p != "0" {
			value += "." + p
		}
		if has {
			to = append(to, exposition.Label{Name: name, Value: value})
		}
	}
	return to
}

// twoDies are the names of the models of Atlas A3: Ascend910, where others have a letter or a number behind it.
var twoDies = lazy.Regexp(`^Ascend910(_93\d\d)?(-|$)`)

// cardOf is the label of the card of an NPU that is one of two dies, which npu-exporter numbers one after the other.
func cardOf(labels exposition.Labels) exposition.Labels {
	for _, names := range [][2]string{{"model_name", "id"}, {"modelName", "npuID"}} {
		model, _ := labels.Get(names[0])
		id, _ := labels.Get(names[1])
		if n, err := strconv.ParseUint(id, 10, 16); err == nil && twoDies.MatchString(model) {
			return exposition.Labels{{Name: "card", Value: strconv.FormatUint(n/2, 10)}}
		}
	}
	return nil
}
