package metrics

// A Definition says by whose rules a figure was made. Figures are comparable if
// their IDs are the same.
type Definition struct {
	ID    string `json:"id"`    // pitot, vllm, vllm touched-second, sglang ...
	Words string `json:"words"` // what it counts from and to
}
