package sglangdata

// SharedPrefix is the dataset generated-shared-prefix: groups of prompts that begin
// with the same system prompt, both of random ids.
type SharedPrefix struct {
	Groups     int      // --gsp-num-groups
	PerGroup   int      // --gsp-prompts-per-group
	System     int      // --gsp-system-prompt-len
	Question   int      // --gsp-question-len
	Output     int      // --gsp-output-len
	Ratio      float64  // --gsp-range-ratio
	Turns      int      // --gsp-num-turns
	Ordered    bool     // --gsp-ordered
	Fast       bool     // --gsp-fast-prepare: prompts are not counted
	Zipf       *float64 // --gsp-zipf-alpha, with --gsp-group-distribution zipf; nil = uniform
	AsIDs      bool     // --tokenize-prompt
	RoutingKey bool     // --gsp-send-routing-key
	// Run and Start begin a routing key: 8 hex digits, and the local time as
	// YYYYmmddHHMMSS.
	Run, Start string
}
