package sglangdata

// SpeedBench is the dataset speed-bench: the first turn of each line, sampled.
type SpeedBench struct {
	File     *File  // --dataset-path
	Requests int    // --num-prompts
	Category string // --speed-bench-category, empty = all
	Output   int    // --speed-bench-output-len
}
