package sglangdata

// Agentic is the dataset agentic-trace: conversations whose turns wait for each other.
type Agentic struct {
	File     *File // --dataset-path
	Requests int   // --num-prompts: conversations, 0 or less = all
	Output   *int  // --sharegpt-output-len, of each turn
	Offset   int   // --dataset-offset
	MaxTurns *int  // --agentic-max-turns
}
