package sglangdata

// Talks are the settings of datasets whose prompt is the first turn of a conversation
// and whose output length is that of the second.
type Talks struct {
	File         *File  // --dataset-path
	Requests     int    // --num-prompts, at most
	Output       *int   // --sharegpt-output-len, in place of the length of the answer
	Context      *int   // --sharegpt-context-len, the most tokens of prompt and answer
	Suffix       string // --prompt-suffix
	ChatTemplate bool   // --apply-chat-template
}

// ShareGPT is the dataset sharegpt: a JSON list of conversations.
type ShareGPT struct{ Talks }

// Custom is the dataset custom: conversations as JSON Lines.
type Custom struct{ Talks }
