package sglangdata

// OpenAI is the dataset openai: chat requests as JSON Lines, in order, with the body
// fields of each.
type OpenAI struct {
	File     *File // --dataset-path
	Requests int   // --num-prompts, 0 or less = all
	Output   *int  // --sharegpt-output-len
}
