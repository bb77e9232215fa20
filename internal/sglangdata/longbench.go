package sglangdata

// LongBench is the dataset longbench_v2: a long text and a question with four choices.
type LongBench struct {
	File     *File // --dataset-path, Parquet or JSON Lines
	Requests int   // --num-prompts, at most
	Output   *int  // --sharegpt-output-len
	Context  *int  // --sharegpt-context-len
}
