package view

// Experiments are those of a store, the newest first.
type Experiments struct {
	Rows []ExperimentRow `json:"rows"`
	// Damaged says which cannot be read.
	Damaged []string `json:"damaged"`
}

// An ExperimentRow is an experiment in a list.
type ExperimentRow struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"` // running, done, failed, interrupted
	State     string   `json:"state"`  // the status in words
	Started   string   `json:"started"`
	Spent     float64  `json:"spent"` // seconds
	Done      int      `json:"done"`  // legs
	Planned   int      `json:"planned"`
	AtMost    bool     `json:"at_most"` // it may end before all planned legs are made
	Failed    int      `json:"failed"`
	Variants  []string `json:"variants"` // the baseline first
	Workloads []string `json:"workloads"`
	Same      bool     `json:"same"` // its variants differ in their names only (A/A)
}

// An Experiment is how an experiment goes, or went. Its verdict is a Comparison of its name.
type Experiment struct {
	Row      ExperimentRow       `json:"row"`
	Why      string              `json:"why"`   // it failed
	Ended    string              `json:"ended"` // why no further block was made
	Sides    []ExperimentVariant `json:"sides"` // the baseline first
	Blocks   []Block             `json:"blocks"`
	Method   []Field             `json:"method"`   // order, servers, warm-up, looks, cost ...
	Looks    int                 `json:"looks"`    // at which it may end that were taken
	Most     int                 `json:"most"`     // looks at most; 0: it has a fixed size
	Verdict  bool                `json:"verdict"`  // there are legs to judge
	Left     *float64            `json:"left"`     // seconds that the plan will take; null: unknown, or none
	Winner   string              `json:"winner"`   // the variant that fresh legs confirm; empty: none
	Log      []LogLine           `json:"log"`      // what happened, in order
	Advice   []string            `json:"advice"`   // what comparison is worth making, after an A/A experiment
	Commands []Command           `json:"commands"` // to go on with it, to make it again
	File     string              `json:"file"`     // the experiment as YAML
	Folder   string              `json:"folder"`
	Stored   string              `json:"stored"` // when this was written down
}

// An ExperimentVariant is a side of an experiment.
type ExperimentVariant struct {
	Letter string `json:"letter"`
	Name   string `json:"name"`
	What   string `json:"what"` // the server or the settings that make it
}

// A Block is legs that make one comparison of all variants.
type Block struct {
	Number   int   `json:"number"`
	Confirms bool  `json:"confirms"` // on fresh legs, what other blocks found
	Legs     []Leg `json:"legs"`     // in the order of their turns; a turn that failed has several
}

// A Leg is one turn of a variant.
type Leg struct {
	Position int      `json:"position"` // among all legs; 0: it is still to come
	Number   int      `json:"number"`   // in the order without attempts that failed
	Turn     int      `json:"turn"`     // in its block, from 1
	Attempt  int      `json:"attempt"`
	Letter   string   `json:"letter"`
	Variant  string   `json:"variant"`
	Status   string   `json:"status"` // planned, running, done, failed, interrupted
	State    string   `json:"state"`  // the status in words
	Why      string   `json:"why"`    // it is no evidence
	Began    string   `json:"began"`
	Took     float64  `json:"took"`  // seconds
	Ready    float64  `json:"ready"` // seconds from the start of its server until it answered; 0: it was up
	Server   string   `json:"server"`
	Log      string   `json:"log"` // the file of its server's output; empty: none
	Runs     []LegRun `json:"runs"`
}

// A LegRun is a run of a leg.
type LegRun struct {
	ID       string `json:"id"`
	Workload string `json:"workload"`
	Running  bool   `json:"running"`
}

// A LogLine is something that happened.
type LogLine struct {
	At   string `json:"at"`
	Text string `json:"text"`
	Tone string `json:"tone"`
}

// Searches are the sweeps and the capacity searches of a store, the newest first.
type Searches struct {
	Rows []SearchRow `json:"rows"`
}

// A SearchRow is a sweep or a capacity search in a list.
type SearchRow struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // sweep, capacity
	// Status is running, complete, interrupted or killed; empty: its runs are all that is known.
	Status    string `json:"status"`
	End       string `json:"end"`     // as in Capacity; open: its time was over before anything was known; nothing, of a sweep: no point has figures
	Started   string `json:"started"` // RFC 3339; empty if unknown
	Model     string `json:"model"`
	URL       string `json:"url"`
	Simulated bool   `json:"simulated"`
	Runs      int    `json:"runs"`    // that are stored
	Planned   int    `json:"planned"` // 0: nobody knows
	// Terms are the settings that a sweep varies, or the objectives of a capacity search.
	Terms  []string `json:"terms"`
	Answer string   `json:"says"` // what came of it, in one sentence; empty: not known
}

// A Search is a sweep or a capacity search with what came of it: one of both is not null.
type Search struct {
	Row      SearchRow `json:"row"`
	Answer   []string  `json:"says"` // what came of it, in sentences
	Command  string    `json:"command"`
	Sweep    *Sweep    `json:"sweep"`
	Capacity *Capacity `json:"capacity"`
}

// A Sweep is points, which are combinations of settings, with what was seen at each.
type Sweep struct {
	// Load is the setting that orders the points of a curve; empty: no setting is a load, and
	// there are no curves.
	Load     string   `json:"load"`
	Settings []string `json:"settings"` // names
	Devices  int      `json:"devices"`  // that the output of a point is divided by
	Level    float64  `json:"level"`    // of the intervals of predicted points; 0: none has one
	WhatIf   []string `json:"what_if"`  // settings of a profile that nobody measured
	// Quantities are what points have values of, in the order of a table.
	Quantities []Quantity   `json:"quantities"`
	Points     []SweepPoint `json:"points"`
	Curves     []SweepCurve `json:"curves"`
}

// A Quantity is what a column or an axis shows.
type Quantity struct {
	Name  string `json:"name"` // of a figure, or user or device: output tokens/s of one user or device
	Title string `json:"title"`
	Unit  string `json:"unit"` // of its values
}

// A SweepPoint is one combination of settings.
type SweepPoint struct {
	Values  []string               `json:"values"`  // by setting
	Load    *float64               `json:"load"`    // null: it is no number
	Curve   int                    `json:"curve"`   // -1: none
	Runs    []string               `json:"runs"`    // ids of those that are evidence, or under way
	Running bool                   `json:"running"` // one of them is under way
	Same    string                 `json:"same"`    // equal for one load, also in other sweeps; empty: unknown
	Failed  []string               `json:"failed"`  // why others are not
	Figures map[string]SweepSpread `json:"figures"`
	Knee    bool                   `json:"knee"`
	Front   bool                   `json:"front"` // nothing beats it both for a user and for a device
	// Refused says why nothing is predicted, Extrapolated where the prediction extrapolates.
	Refused      string `json:"refused"`
	Extrapolated string `json:"extrapolated"`
}

// A SweepSpread is a quantity at a point.
type SweepSpread struct {
	N         int      `json:"n"` // runs
	Value     float64  `json:"value"`
	SD        *float64 `json:"sd"`        // between runs; null of a single one
	Low       *float64 `json:"low"`       // the smallest of the runs, or the interval of the prediction
	High      *float64 `json:"high"`      //
	Predicted bool     `json:"predicted"` // Low and High are the interval of one new run
}

// A SweepCurve is points that differ in nothing but the load, by rising load.
type SweepCurve struct {
	Name   string `json:"name"`   // what they have in common; empty: nothing else varies
	Points []int  `json:"points"` // indices
	Knee   string `json:"says"`   // where its knee is
}

// A Capacity is the search for the highest load that meets objectives.
type Capacity struct {
	By         string              `json:"by"` // rate (requests/s), concurrency (requests in flight)
	Objectives []CapacityObjective `json:"objectives"`
	Budget     float64             `json:"budget"` // of measuring, in seconds
	Wanted     float64             `json:"wanted"` // precision that was asked for, as a share of the load
	// End is found, budget, nothing, everything or client; empty: it has none, or not yet.
	End string `json:"end"`
	// Load is the capacity, and Precision half of its 90 % interval as a share of it; it lies between
	// Passes and Fails. Null: not known.
	Load      *float64       `json:"load"`
	Precision *float64       `json:"precision"`
	Passes    *float64       `json:"passes"`
	Fails     *float64       `json:"fails"`
	Binding   int            `json:"binding"` // the objective that is met up to the least load; -1: not known
	Legs      []CapacityLeg  `json:"legs"`    // in order of making
	Sides     []CapacitySide `json:"sides"`
}

// A CapacityObjective is a limit that a share of the requests must meet.
type CapacityObjective struct {
	Name   string  `json:"name"`   // ttft.p99, a figure
	Text   string  `json:"text"`   // ttft.p99=500ms
	Title  string  `json:"title"`  // TTFT
	Limit  float64 `json:"limit"`  // seconds
	Beyond float64 `json:"beyond"` // share of the requests that may be beyond the limit
}

// A CapacityLeg is a run of a search at one load.
type CapacityLeg struct {
	Number   int     `json:"number"` // from 1
	Load     float64 `json:"load"`
	By       string  `json:"by"`  // as in Capacity; the first leg is always by concurrency
	Why      string  `json:"why"` // light, seek, passes, fails; empty: not known
	Run      string  `json:"run"` // id; empty: it has none yet
	Running  bool    `json:"running"`
	Requests int     `json:"requests"` // counted
	Failed   int     `json:"failed"`
	// Beyond is the share of the requests beyond the limit of each objective, and Latency the
	// figure that it limits, in seconds: null where nothing is known.
	Beyond  []*float64 `json:"beyond"`
	Latency []*float64 `json:"latency"`
	// Verdict is met, not met or void; empty: not judged. Clear says that the leg alone decides
	// it: between, legs of the same load contradict each other.
	Verdict string  `json:"verdict"`
	Clear   bool    `json:"clear"`
	Reason  string  `json:"reason"` // why it is void
	Seconds float64 `json:"seconds"`
}

// A CapacitySide is what the legs at one side of the capacity showed together.
type CapacitySide struct {
	Name     string     `json:"name"` // passes, fails
	Load     float64    `json:"load"`
	Legs     int        `json:"legs"`
	Requests int        `json:"requests"`
	Beyond   []*float64 `json:"beyond"` // by objective
}
