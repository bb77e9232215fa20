package sglangdata

// Random is the datasets random and random-ids: prompts of drawn lengths, made of
// ShareGPT's first turns, repeated or cut, or of runs of consecutive ids.
type Random struct {
	Requests int     // --num-prompts
	Input    int     // --random-input-len
	Output   int     // --random-output-len
	Ratio    float64 // --random-range-ratio: lengths are uniform in [L·ratio, L]
	IDs      bool    // random-ids
	AsIDs    bool    // --tokenize-prompt: send token ids
	// File is ShareGPT's, for random. Without one prompts are made as for random-ids,
	// of the same lengths, and a note says so.
	File *File
}
