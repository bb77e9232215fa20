package trace

import "github.com/pitot-bench/pitot/internal/plan"

// A WarmUp is a warm-up until steady: waves of requests until two successive ones agree.
type WarmUp struct {
	Waves  []Wave  `json:"waves"`
	Steady bool    `json:"steady"`          // the last two agree
	Brief  bool    `json:"brief,omitempty"` // few and short waves, see plan.WarmUp
	Took   float64 `json:"took,omitempty"`  // seconds
}

// A Wave is what the requests of one wave got. Times are in seconds, 0 where there are none:
// answers in one piece have only an E2EL.
type Wave struct {
	Requests int     `json:"requests"`
	Failed   int     `json:"failed,omitempty"`
	TTFT     float64 `json:"ttft,omitempty"` // medians
	TPOT     float64 `json:"tpot,omitempty"`
	ITL      float64 `json:"itl,omitempty"`
	E2EL     float64 `json:"e2el,omitempty"`
	Gap      float64 `json:"gap,omitempty"`     // the longest between two chunks of a stream
	Longest  float64 `json:"longest,omitempty"` // TTFT, or E2EL
}

// Last is the last wave, and the one before it.
func (w *WarmUp) Last() (before, last Wave) {
	switch n := len(w.Waves); n {
	case 0:
	case 1:
		last = w.Waves[0]
	default:
		before, last = w.Waves[n-2], w.Waves[n-1]
	}
	return before, last
}

// A Cache is the declared state of the server's prefix cache, what was done before the run
// to bring it about, and what the evidence is held against.
type Cache struct {
	Declared plan.Cache `json:"declared"`
	Reset    string     `json:"reset,omitempty"`  // route that emptied it
	Primed   int        `json:"primed,omitempty"` // prompts sent ahead and answered
	Reported int        `json:"told,omitempty"`   // answers that reported how many of their prompt tokens were cached
	// Most is how many prompt tokens can be cached if the cache was empty at the beginning:
	// those that earlier requests of the run can have left there. -1: unknown.
	Most int `json:"most"`
	// Least is how many must be if the cache had the prompts of the run at the beginning;
	// 0: unknown.
	Least int `json:"least,omitempty"`
}
