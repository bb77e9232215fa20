package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Claim is what a client reports of a run.
type Claim struct {
	Format string `json:"format"`
	// OK and Failed count requests, Output the tokens of those that succeeded; -1
	// where the report does not tell.
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Output int `json:"output_tokens"`
	// Latencies are in seconds. What the report does not have is not in them.
	Latencies map[Metric]Latency `json:"latencies"`
	// Merged is the share of tokens that were read too late to be told apart, nil
	// where the client does not tell. Bounds are what a figure lies within by the
	// client's own account, and of a metric in Void it says that only the mean is to
	// be believed.
	Merged *float64                       `json:"merged,omitempty"`
	Bounds map[Metric]map[Statistic]Bound `json:"bounds,omitempty"`
	Void   []Metric                       `json:"void,omitempty"`
	// Verdict is the client's on its own run: valid, doubtful or invalid; empty if
	// it has none.
	Verdict string   `json:"verdict,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what the report itself says against its figures
}

// A Bound is what a figure lies within, in seconds.
type Bound struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Latency is a distribution in the statistics that a report has.
type Latency map[Statistic]float64

// Sent is how many requests the client says it made, -1 where it does not.
func (c Claim) Sent() int {
	if c.OK < 0 {
		return -1
	}
	return c.OK + max(0, c.Failed)
}

// newClaim is one that tells nothing yet.
func newClaim() Claim { return Claim{OK: -1, Failed: -1, Output: -1, Latencies: map[Metric]Latency{}} }

// put adds a statistic, if there is one, in units of so many seconds.
func (c *Claim) put(m Metric, s Statistic, v *float64, unit float64) {
	if v == nil {
		return
	}
	if c.Latencies[m] == nil {
		c.Latencies[m] = Latency{}
	}
	c.Latencies[m][s] = *v * unit
}

// fill adds the statistics of a sample that the report has in full, where it
// does not sum them up itself.
func (c *Claim) fill(m Metric, values []float64) {
	if len(values) == 0 {
		return
	}
	for s, v := range linear(sample{values: values}) {
		if _, ok := c.Latencies[m][s]; !ok {
			c.put(m, s, &v, 1)
		}
	}
}

// count takes a number of things that a report has.
func count(n *float64) int {
	if n == nil {
		return -1
	}
	return int(*n)
}

// Units of reports.
const milliseconds = 1e-3

// Read reads a client's report. A format of "" is found by the keys.
func Read(format string, data []byte) (Claim, error) {
	o, err := newObject(data)
	if err != nil {
		return Claim{}, err
	}
	for _, f := range Formats() {
		if f.Name != format && (format != "" || !f.is(o)) {
			continue
		}
		if !f.is(o) {
			return Claim{}, fmt.Errorf("it is no report of %s: its keys are %s", f.Tool, o.list())
		}
		c, err := f.read(o)
		c.Format = f.Name
		return c, err
	}
	return Claim{}, fmt.Errorf("no tool known writes such a report: its keys are %s", o.list())
}

// FormatNamed is the format of that name.
func FormatNamed(name string) (Format, bool) {
	i := slices.IndexFunc(Formats(), func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats()[i], true
}

// FormatNames lists the names.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// An object is a report as JSON: the whole, and its members.
type object struct {
	data    []byte
	members map[string]json.RawMessage
}

var errNoReport = errors.New("it is empty")

// newObject reads the last of the JSON objects in data: some tools append to
// their files.
func newObject(data []byte) (object, error) {
	var last json.RawMessage
	d := json.NewDecoder(bytes.NewReader(plain(data)))
	for {
		var one json.RawMessage
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return object{}, fmt.Errorf("it is not JSON, or cut short: %w", err)
		}
		last = one
	}
	if last == nil {
		return object{}, errNoReport
	}
	o := object{data: last}
	if err := json.Unmarshal(last, &o.members); err != nil {
		return object{}, errors.New("it is JSON, but not an object")
	}
	return o, nil
}

// into decodes the whole.
func (o object) into(v any) error { return json.Unmarshal(o.data, v) }

// has reports whether all of the keys are there.
func (o object) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return o.members[k] == nil })
}

// list names some of the keys.
func (o object) list() string {
	var keys []string
	for k := range o.members {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	if len(keys) > 8 {
		keys = append(keys[:8], "…")
	}
	return strings.Join(keys, ", ")
}

// plain makes JSON of what Python writes: Infinity and NaN become null.
func plain(data []byte) []byte {
	if !bytes.Contains(data, []byte("Infinity")) && !bytes.Contains(data, []byte("NaN")) {
		return data
	}
	var out []byte
	inside := false
	for i := 0; i < len(data); i++ {
		rest := data[i:]
		switch {
		case inside && data[i] == '\\' && len(rest) > 1:
			out = append(out, rest[:2]...)
			i++
			continue
		case data[i] == '"':
			inside = !inside
		case !inside:
			if word := pythonOnly(rest); word > 0 {
				out = append(out, "null"...)
				i += word - 1
				continue
			}
		}
		out = append(out, data[i])
	}
	return out
}

// pythonOnly is the length of a number at the start of data that only Python
// takes for JSON, 0 if there is none.
func pythonOnly(data []byte) int {
	for _, word := range []string{"-Infinity", "Infinity", "NaN"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
