package sglangdata

// MMMU is the dataset mmmu: questions of mathematics with a picture each, from a local
// copy of the split Math/test of MMMU.
type MMMU struct {
	Files    []*File // --dataset-path, or the Hugging Face cache
	Requests int     // --num-prompts
	Output   int     // --random-output-len
	Backend  string  // --backend
}
