package view

// A Conformity is how wrong the figures of clients are, under loads whose true figures are known.
type Conformity struct {
	Clients []ConformClient `json:"clients"`
	Cells   []ConformCell   `json:"cells"`
	Errors  []ConformErrors `json:"errors"` // the lines of the plot
	// Definitions are what the clients mean by their metrics, and Notes what is to be known of
	// single runs.
	Definitions []string `json:"definitions"`
	Notes       []string `json:"notes"`
}

// A ConformClient is a client that was put to a grid of loads.
type ConformClient struct {
	Name    string `json:"name"`
	Command string `json:"command"` // for a shell, with placeholders
	Format  string `json:"format"`  // of its reports
	Started string `json:"started"` // RFC 3339
	Place   string `json:"place"`   // the machine, in words
	StartUp string `json:"start_up"`
	Held    int    `json:"held"`   // bounds that hold the true figure
	Bounds  int    `json:"bounds"` // of so many
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
	Held      bool    `json:"held"`      // and it does
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
