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
	Left     *float64            `json:"left"`     // seconds that what is planned will take; null: unknown, or none
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
