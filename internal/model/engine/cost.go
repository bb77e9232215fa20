package engine

import "sort"

// A Work is the work of a step, as seen by a Cost.
type Work struct {
	Decodes       int     // decoding sequences, including padding of a static batch
	Context       int64   // their context tokens in total
	Drafted       int     // draft tokens verified
	Prefills      int     // prompts, or chunks of them
	PrefillTokens int     // including image tokens
	PrefillPairs  float64 // Σ n(L+n/2) over chunks of n tokens after L
	Images        int
	ImageTokens   int
	ImagePairs    float64 // ΣT² over images
	Blocks, Pages int     // of the KV cache, newly allocated and newly mapped
	Adapters      int     // LoRA adapters loaded
}

// time is the duration of a step with this work: the sum of the coefficients times the
// work, and what the tables say of it.
func (c *Costs) time(w *Work) Seconds {
	base, table := c.Step+c.Sequence.times(float64(w.Decodes)), curve(c.DecodeTable)
	if w.PrefillTokens > 0 && len(c.MixedTable) > 0 {
		base, table = 0, c.MixedTable
	}
	t := base + c.ContextToken.times(float64(w.Context)) + c.DraftToken.times(float64(w.Drafted))
	if w.PrefillTokens > 0 {
		t += c.Prefill + c.PrefillToken.times(float64(w.PrefillTokens)) + c.PrefillPair.times(w.PrefillPairs)
	}
	if w.Images > 0 {
		t += c.Image.times(float64(w.Images)) + c.ImageToken.times(float64(w.ImageTokens)) + c.ImagePair.times(w.ImagePairs)
	}
	if w.Blocks+w.Pages+w.Adapters > 0 {
		t += c.Block.times(float64(w.Blocks)) + c.Page.times(float64(w.Pages)) + c.Adapter.times(float64(w.Adapters))
	}
	t += table.at(float64(w.Decodes))
	if w.PrefillTokens > 0 {
		t += curve(c.PrefillTable).at(float64(w.PrefillTokens))
	}
	return t
}

// launches reports whether launching a step takes time.
func (c *Costs) launches() bool {
	return c.Launch > 0 || c.LaunchSequence > 0 || c.LaunchPrefill > 0 || c.LaunchPrompt > 0 || c.LaunchPrefillToken > 0
}

// launch is the time in which the host launches a step with this work, at its factor 1.
func (c *Costs) launch(w *Work) Seconds {
	t := c.Launch + c.LaunchSequence.times(float64(w.Decodes))
	if w.PrefillTokens > 0 {
		if c.LaunchPrefill > 0 {
			t = c.LaunchPrefill
		}
		t += c.LaunchPrompt.times(float64(w.Prefills)) + c.LaunchPrefillToken.times(float64(w.PrefillTokens))
	}
	return t
}

// A curve is linear between its points, constant before the first, and continues
// the last segment beyond the last; without points it is 0.
type curve []Point

func (c curve) at(x float64) Seconds {
	if len(c) == 0 {
		return 0
	}
	i := sort.Search(len(c), func(i int) bool { return c[i].At >= x })
	if i == 0 {
		return c[0].Time
	}
	i = min(i, len(c)-1)
	a, b := c[i-1], c[i]
	return a.Time + (b.Time - a.Time).times((x-a.At)/(b.At-a.At))
}
