package trace

// An Origin is where an imported run was found, and what stood there: another
// tool's words, as opposed to what Pitot makes of records.
type Origin struct {
	Tool string `json:"tool"` // vllm, sglang, guidellm, aiperf, genai-perf or inference-perf
	// Form is which of the forms of the tool's report it has, as vllm.Version
	// and sglang.Version name them; empty where the tool has but one.
	Form   string `json:"form,omitempty"`
	Detail Detail `json:"detail"`
	File   string `json:"file"`           // as it was named
	Line   int    `json:"line,omitempty"` // of its first line, from 1; 0 in files that have none
	// Path are the headings above it, outermost first, without that of the whole
	// document.
	Path []string `json:"path,omitempty"`
	// Figures are what the tool reported, each once, in its order.
	Figures []Figure `json:"figures,omitempty"`
	// Claims are the changes that the author of a note stated beside it.
	Claims []Claim `json:"claims,omitempty"`
	// Trimmed means that the table's lines had lost their trailing blanks.
	Trimmed bool `json:"trimmed,omitempty"`
	// Setup is what the tool had to say of its own settings: a Namespace line, or the
	// members of a result file that are no figures.
	Setup map[string]string `json:"setup,omitempty"`
	// Around are lines beside a table that belong to its environment, such as package
	// versions and images.
	Around []string `json:"around,omitempty"`
}

// Detail says how much another tool left of a run.
type Detail string

// The details, least first.
const (
	Table    Detail = "table"    // a printed report: figures, rounded
	Summed   Detail = "summary"  // a result file: figures in full
	Undated  Detail = "undated"  // moreover each request's own timing, but not when it started: instants count from its own start
	Recorded Detail = "recorded" // every request on one clock: a whole trace
)

// A Figure is one number of a run under the name that all tools share:
// METRIC.STATISTIC, as ttft.mean or itl.p99, or a name of metrics.Quantities.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // seconds, tokens, requests, or those per second
	// Step is what one in the last printed digit is worth, in the same unit; 0 for a
	// number in full.
	Step float64 `json:"step,omitempty"`
}

// A Claim is a change that an author stated, such as `Mean TTFT 3.34% ⬇️`.
type Claim struct {
	Text   string  `json:"text"`           // as it stood
	Line   int     `json:"line"`           // from 1
	Metric string  `json:"metric"`         // ttft, itl, throughput.output ...
	Stat   string  `json:"stat,omitempty"` // mean, p99 ...; empty if it was not said
	Change float64 `json:"change"`         // relative and with its sign: -0.0334
	Step   float64 `json:"step"`           // what one in its last digit is worth: 0.0001
}

// Figure is the reported figure of that name.
func (o *Origin) Figure(name string) (f Figure, ok bool) {
	for _, f := range o.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}
