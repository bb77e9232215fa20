package view

// A Predicted is measured and simulated runs of the same load beside each other.
type Predicted struct {
	Load     string         `json:"load"`     // in words
	Measured []PredictedRun `json:"measured"` // with the run that was asked for, if it is one
	// Predictions are the simulated runs by their profile, those that deviate least first.
	Predictions []Prediction `json:"predictions"`
}

// A PredictedRun is a run by name.
type PredictedRun struct {
	ID   string `json:"id"`
	Name string `json:"name"` // empty: it has none
}

// A Prediction is what simulated runs of one profile say of a load.
type Prediction struct {
	Profile string         `json:"profile"` // empty: an engine with latencies in place of a profile
	Error   string         `json:"error"`   // what is known of how far the profile is off, in words
	Runs    []PredictedRun `json:"runs"`
	Figures []Deviation    `json:"figures"`
}

// A Deviation is a figure as it was measured and as it was predicted: means over the runs, with
// the smallest and the largest.
type Deviation struct {
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Unit      string  `json:"unit"` // of the values
	Measured  Reach   `json:"measured"`
	Predicted Reach   `json:"predicted"`
	Share     float64 `json:"share"` // by which the prediction is larger than what was measured
	// Known is the error that the calibration of the profile found in this figure, as a share; null:
	// it says none.
	Known *float64 `json:"known"`
}

// A Reach is a value with what it lies within.
type Reach struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	N     int     `json:"n"` // runs
}
