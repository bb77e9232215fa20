package view

// A Comparison is variants held against a baseline, in words and in numbers.
type Comparison struct {
	Asked Asked `json:"asked"`
	// Refused says why nothing is compared; null: it is.
	Refused    *Refused       `json:"refused"`
	Experiment string         `json:"experiment"` // that made all of the runs; empty: none did
	Overall    Said           `json:"overall"`    // the verdict in a few words, under its label
	Simulated  string         `json:"simulated"`  // which runs were never measured; empty: all were
	Verdict    []Said         `json:"verdict"`    // the bottom lines of an experiment; else each load has them
	Notes      []Said         `json:"notes"`
	Loads      []ComparedLoad `json:"loads"`
	Gates      []Gate         `json:"gates"`
	Marks      []Said         `json:"marks"` // what the marks in the tables mean
	Level      float64        `json:"level"`
	Margin     float64        `json:"margin"`
	Command    string         `json:"command"` // that says the same on a command line
	Sources    []MarkedNote   `json:"sources"` // the texts that imported runs stand in
}

// A MarkedNote is a text that runs were imported from, with marks above their tables. It has no control characters and
// no secrets.
type MarkedNote struct {
	Title string     `json:"title"`
	Parts []NotePart `json:"parts"`
}

// A NotePart is marks of one line, text, or words on lines that are not stored.
type NotePart struct {
	Marks []NoteMark `json:"marks"`
	Text  string     `json:"text"`
	Left  string     `json:"left"`
}

// A NoteMark names a table, or a row of one: variant, load and repeat.
type NoteMark struct {
	Place string `json:"place"` // line 12
	Text  string `json:"text"`
	Run   string `json:"run"` // its id; empty: none
}

// Asked is a question for a comparison, as it was understood. Level and Margin are 0 where the
// experiment, or the default, decides.
type Asked struct {
	Runs      []string `json:"runs"` // names, ids, patterns, experiments, as `pitot compare` takes them
	Baseline  string   `json:"baseline"`
	Level     float64  `json:"level"`
	Margin    float64  `json:"margin"`
	Paired    bool     `json:"paired"`
	Single    bool     `json:"single"` // chance within single runs decides
	Predicted bool     `json:"predicted"`
	Ignore    []string `json:"ignore"`
	By        string   `json:"by"`    // the tool that defines the figures
	Gates     []string `json:"gates"` // such as ttft.mean > +2%
}

// Refused is why runs are not compared, and what may be done about it.
type Refused struct {
	Text string `json:"text"`
	// Setting is what of the question is in the way: predicted, paired, baseline, ignore, by,
	// gates; loads: the runs met different loads; size: they are too large for the page.
	Setting string `json:"setting"`
	// Values are what the setting could be, such as names of variants for a baseline.
	Values []string `json:"values"`
}

// Said is a line of text, with a label such as note.
type Said struct {
	Label string `json:"label"`
	Text  string `json:"text"`
	Tone  string `json:"tone"` // better, worse, unclear; empty: none of these
}

// A ComparedLoad is the variants that met one load.
type ComparedLoad struct {
	Name     string            `json:"name"`
	Settings string            `json:"settings"` // what load that is; empty: the name says it
	Variants []ComparedVariant `json:"variants"` // the baseline first
	Results  []Said            `json:"results"`  // the bottom lines, of runs that no experiment made
	Claims   []Said            `json:"claims"`   // what an author stated, held against the figures
	// Differs are the differences other than the variant, those that explain most first; Further is
	// how many more facts of the environment differ, and Idle how many variables that never matter.
	Differs  []Difference  `json:"differs"`
	Further  int           `json:"further"`
	Idle     int           `json:"idle"`
	Rows     []ComparedRow `json:"rows"`
	Notes    []Said        `json:"notes"` // noise, drift, order, what a reader has to know, definitions
	Overlays []Overlay     `json:"overlays"`
}

// A ComparedVariant is one side of a comparison.
type ComparedVariant struct {
	Name      string        `json:"name"`
	Simulated bool          `json:"simulated"`
	Size      string        `json:"said"` // how many runs or legs
	Runs      []ComparedRun `json:"runs"`
}

// A ComparedRun is a run of a variant.
type ComparedRun struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Validity string `json:"validity"` // as in Row
	Leg      int    `json:"leg"`      // its position in an experiment; 0: none
}

// A Difference is a setting or a fact, with its value in each variant.
type Difference struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// A ComparedRow is one figure by one definition.
type ComparedRow struct {
	Name   string `json:"name"` // ttft.p99
	Title  string `json:"title"`
	Unit   string `json:"unit"`
	Better string `json:"better"` // lower, higher; empty: neither
	// Mark is the number of its definition among the notes; 0: that of most rows.
	Mark int `json:"mark"`
	// Place is main (people look at it first), more, percentile (below P99) or alike.
	Place string         `json:"place"`
	Cells []ComparedCell `json:"cells"` // by variant
}

// A ComparedCell is a figure of a variant, and its change against the baseline, which the
// baseline has not.
type ComparedCell struct {
	Value      string `json:"value"`  // in the unit of the row; "-" if there is none
	ValueRange string `json:"within"` // where the value lies; empty if nobody knows
	Change     string `json:"change"` // in percent, or in the unit; empty: none
	Interval   string `json:"interval"`
	Verdict    string `json:"verdict"` // in words
	Tone       string `json:"tone"`
	Basis      string `json:"basis"` // what the verdict rests on, in words
	Why        string `json:"why"`   // the test, its p-value, the noise
	// Relative, Low and High are shares: 0.034 is 3.4 % more. Null of counts that may be 0.
	Relative *float64 `json:"relative"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	// Kind is what the change amounts to: better, worse, same, cannot tell, not judged; empty of
	// the baseline.
	Kind string `json:"kind"`
}

// A Gate is a condition of a comparison, and what became of it.
type Gate struct {
	Text    string `json:"text"`
	Load    string `json:"load"`
	Variant string `json:"variant"`
	Outcome string `json:"outcome"` // pass, fail, inconclusive
	Title   string `json:"title"`   // the outcome in words
	Reason  string `json:"said"`    // the value, and why
	Tone    string `json:"tone"`
}

// An Overlay is the distributions of one latency of all variants.
type Overlay struct {
	Name  string    `json:"name"` // ttft, tpot, itl, e2el
	Title string    `json:"title"`
	Share []float64 `json:"share"` // from 0 to 1, of all curves
	// Curves are one for each run, or for each variant, where the runs of a variant together
	// are the mean at each share.
	Curves []Curve `json:"curves"`
}

// A Curve is a cumulative distribution: so many seconds at most took each Share of Overlay.
type Curve struct {
	Variant int       `json:"variant"` // index of the variant
	Run     string    `json:"run"`     // its id; empty: the mean of several
	Value   []float64 `json:"value"`
}

// A Conformity is the error of the figures of clients, under loads with known true figures.
type Conformity struct {
	Clients []ConformClient `json:"clients"`
	Cells   []ConformCell   `json:"cells"`
	Errors  []ConformErrors `json:"errors"` // the lines of the plot
	// Definitions are the clients' definitions of their metrics, and Notes are on single runs.
	Definitions []string `json:"definitions"`
	Notes       []string `json:"notes"`
}

// A ConformClient is a client that was put to a grid of loads.
type ConformClient struct {
	Name     string `json:"name"`
	Command  string `json:"command"` // for a shell, with placeholders
	Format   string `json:"format"`  // of its reports
	Started  string `json:"started"` // RFC 3339
	Place    string `json:"place"`   // the machine, in words
	StartUp  string `json:"start_up"`
	InBounds int    `json:"held"`   // bounds that hold the true figure
	Bounds   int    `json:"bounds"` // of so many
}

// A ConformCell is one load, with what each client made of it.
type ConformCell struct {
	Name    string          `json:"name"`
	Load    string          `json:"load"` // in words
	Results []ConformResult `json:"results"`
}

// A ConformResult is the runs of a cell by one client.
type ConformResult struct {
	Client  int             `json:"client"` // index
	Runs    int             `json:"runs"`
	Failure string          `json:"failure"` // why there are no figures, of the first run that has none
	Figures []ConformFigure `json:"figures"`
	Facts   []Field         `json:"facts"` // the rest, in words: rate, lost answers, processor time
}

// A ConformFigure is a figure of the run with the middle error.
type ConformFigure struct {
	Metric    string  `json:"metric"`    // ttft, itl, icl, tpot, e2el
	Statistic string  `json:"statistic"` // mean, median, p90, p99
	Title     string  `json:"title"`
	Claimed   float64 `json:"claimed"` // seconds
	True      float64 `json:"true"`
	N         int     `json:"n"`         // values that the true figure is made of
	Error     string  `json:"error"`     // in words, as the tables of `pitot conform` have it
	Share     float64 `json:"share"`     // of the error in the true figure; 0 if that is 0
	Bounded   bool    `json:"bounded"`   // the client says what the true figure lies within
	Low       float64 `json:"low"`       // seconds
	High      float64 `json:"high"`      //
	InBounds  bool    `json:"held"`      // and it does
	Disavowed bool    `json:"disavowed"` // the client says that the figure is not to be trusted
}

// A ConformErrors is a line of the plot: the error of a client's P99 ITL by the number of streams.
type ConformErrors struct {
	Client   int       `json:"client"`
	Arrivals string    `json:"arrivals"` // lockstep, spread
	Title    string    `json:"title"`
	Streams  []float64 `json:"streams"`
	Shares   []float64 `json:"shares"` // of the true figure, at least 0.00001
}
