package trace

import "encoding/json"

// An Origin is the source of an imported run and its content: the words of another
// tool, as opposed to figures computed from records.
type Origin struct {
	Tool string `json:"tool"` // vllm, sglang, guidellm, aiperf, genai-perf or inference-perf
	// Form is the version of the tool's report format, as named by vllm.Version and
	// sglang.Version; empty if the tool has only one.
	Form   string `json:"form,omitempty"`
	Detail Detail `json:"detail"`
	File   string `json:"file"`           // as given
	Line   int    `json:"line,omitempty"` // of its first line, from 1; 0 in files without lines
	// Note is the text that it stands in; nil: not known. A stored run has the ID of it, and store.Note the rest.
	Note *Note `json:"note,omitempty"`
	// Path holds the headings above it, outermost first, without the title of the
	// document.
	Path []string `json:"path,omitempty"`
	// Load is the name that somebody gave to its load; runs of other loads are not compared with it.
	Load string `json:"load,omitempty"`
	// Repeat: a label counts it among repeated runs of what Path names, as Run 2 does.
	Repeat bool `json:"repeat,omitempty"`
	// Figures are the tool's figures, each once, in its order.
	Figures []ReportedFigure `json:"figures,omitempty"`
	// Claims are the changes that the author of a note stated next to it.
	Claims []Claim `json:"claims,omitempty"`
	// Trimmed means that the table's lines had lost their trailing spaces.
	Trimmed bool `json:"trimmed,omitempty"`
	// Setup holds the tool's own settings: a Namespace line, or the members of a
	// result file that are not figures.
	Setup map[string]string `json:"setup,omitempty"`
	// Command is the command line that writes such a result, in the form of its tool; nil: not
	// known.
	Command json.RawMessage `json:"command,omitempty"`
	// Around holds lines next to a table that describe its environment, such as
	// package versions and images.
	Around []string `json:"around,omitempty"`
}

// Detail says how much of a run another tool recorded.
type Detail string

// The details, least first.
const (
	Table    Detail = "table"    // a printed report: figures, rounded
	Summed   Detail = "summary"  // a result file: figures in full
	Undated  Detail = "undated"  // also each request's own timing, but not its start: instants count from its own start
	Recorded Detail = "recorded" // every request on one clock: a full trace
)

// A ReportedFigure is one number of a run under a tool-independent name: METRIC.STATISTIC,
// such as ttft.mean or itl.p99, or a name of metrics.Quantities.
type ReportedFigure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // seconds, tokens, requests, or those per second
	// Step is the value of the last printed digit, in the same unit, or twice the error of a sampled energy; 0 for a
	// number in full precision.
	Step float64 `json:"step,omitempty"`
}

// UnknownTool is the tool of figures that stand in a table somebody made: whose definitions they follow is not known.
const UnknownTool = "unknown"

// A Claim is a change stated by an author, such as `Mean TTFT 3.34% ⬇️`.
type Claim struct {
	Text   string  `json:"text"`           // as written
	Line   int     `json:"line"`           // from 1
	Metric string  `json:"metric"`         // ttft, itl, throughput.output ...; AnySpeed
	Stat   string  `json:"stat,omitempty"` // mean, p99 ...; empty if not stated
	Change float64 `json:"change"`         // relative and with its sign: -0.0334
	Step   float64 `json:"step"`           // the value of its last digit: 0.0001
	// Before and After are the values that it gives itself, in the unit of the figure; 0 if it gives none.
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after,omitempty"`
	// Delta is a change in the unit of the figure, with its sign, of a claim that gives no relative one; 0 of others.
	// Its Step is in that unit too.
	Delta float64 `json:"delta,omitempty"`
	// Unsigned: it says how far two values are apart, and not which is larger.
	Unsigned bool `json:"unsigned,omitempty"`
	// Load has settings of the load that it names, as those of a Setup.
	Load map[string]string `json:"load,omitempty"`
	// Loose: it stands in no section of a table, and may be of any comparison in the document.
	Loose bool `json:"loose,omitempty"`
	// Sentence is what it stands in, where that is more than Text.
	Sentence string `json:"sentence,omitempty"`
}

// AnySpeed is the metric of a claim that something is faster or slower than something else, without a word in what.
const AnySpeed = "speed"

// Figure returns the reported figure with that name.
func (o *Origin) Figure(name string) (f ReportedFigure, ok bool) {
	for _, f := range o.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return ReportedFigure{}, false
}
