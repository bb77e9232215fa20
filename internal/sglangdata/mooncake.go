package sglangdata

// Mooncake is the dataset mooncake: sessions at the times of a trace, with a prompt
// made up for each hash of its blocks.
type Mooncake struct {
	File     *File   // --dataset-path
	Requests int     // --num-prompts: sessions, at most
	Rounds   int     // --mooncake-num-rounds
	Slowdown float64 // --mooncake-slowdown-factor
}
