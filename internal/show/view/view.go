// Package view is what a page shows of stored runs, as data: each type is the JSON answer to one
// question of the page, and the same JSON stands in a report that is one file.
//
//	store ──> Row                         a run in a list
//	     ├──> Run                         a run without its requests
//	     ├──> Course, Rows, Request       its requests: over time, one bar each, one in full
//	     ├──> Comparison, Experiment      variants held against each other
//	     └──> Sweep, Conformity, Note     many loads, a client's errors, the lab note
//
// Numbers are SI: seconds, tokens, bytes; the page scales them. Sentences are in the language
// that was asked for, and the page shows them as text, never as markup. A number that is not
// known is null. web/src/lib/types.ts has the same types for the page; a test writes it.
package view

// A Row is a run in a list.
type Row struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`     // measured, simulated, imported
	Status   string `json:"status"`   // running, complete, interrupted, killed
	Validity string `json:"validity"` // valid, doubtful, invalid; empty: not judged
	Started  string `json:"started"`  // RFC 3339; empty if unknown
	Model    string `json:"model"`
	URL      string `json:"url"`
	Dialect  string `json:"dialect"`
	Load     string `json:"load"` // in words
	Requests int    `json:"requests"`
	Records  int    `json:"records"`
	Failed   int    `json:"failed"` // -1 if unknown
	// Concurrency and Rate are the limits of the load; 0: none.
	Concurrency int      `json:"concurrency"`
	Rate        float64  `json:"rate"`
	Experiment  string   `json:"experiment"` // empty: on its own
	Variant     string   `json:"variant"`
	Tags        []string `json:"tags"`
	Remark      string   `json:"remark"`
	// Figures are some of the figures, by name, of a run whose figures are known.
	Figures map[string]float64 `json:"figures"`
}

// Runs are a part of the list of runs that a question selects, the newest first.
type Runs struct {
	Total  int   `json:"total"` // of the selection
	Stored int   `json:"stored"`
	Offset int   `json:"offset"`
	Rows   []Row `json:"rows"`
	// Models, Tags and Experiments are those of all stored runs, to choose from; the most used
	// ones, where there are many.
	Models      []string `json:"models"`
	Tags        []string `json:"tags"`
	Experiments []string `json:"experiments"`
}

// A Sparkline is the throughput of a run over its time, in tokens per second, at most 40 values.
type Sparkline struct {
	ID     string    `json:"id"`
	Values []float64 `json:"values"`
}

// Hello is what the page has to know first.
type Hello struct {
	Version   string            `json:"version"`
	Store     string            `json:"store"` // the name of its file
	Write     bool              `json:"write"` // tags and remarks may be written
	Language  string            `json:"language"`
	Languages []string          `json:"languages"`
	Words     map[string]string `json:"words"` // of the page, by code without "page."
}
