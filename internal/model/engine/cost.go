package engine

import "sort"

// A Work is what a step has to do: all that a Cost sees of it.
type Work struct {
	Decodes       int     // sequences that decode, padding of a static batch among them
	Context       int64   // tokens behind them, in all
	Drafted       int     // draft tokens verified
	Prefills      int     // prompts, or chunks of them
	PrefillTokens int     // image tokens among them
	PrefillPairs  float64 // Σ n(L+n/2) over chunks of n tokens after L
	Images        int
	ImageTokens   int
	ImagePairs    float64 // ΣT² over images
	Blocks, Pages int     // of the KV cache, newly taken and newly mapped
	Adapters      int     // LoRA adapters loaded
}

// A Cost turns the work of a step into the time it takes.
type Cost interface{ Time(*Work) Seconds }

// cost is the Cost that c describes.
func (c Costs) cost() Cost {
	if c.DecodeTable == nil && c.PrefillTable == nil {
		return linear(c)
	}
	return tabled(c)
}

// linear is the sum of the coefficients of Costs times the work.
type linear Costs

// Time is the sum.
func (c linear) Time(w *Work) Seconds {
	t := c.Step + c.Sequence.times(float64(w.Decodes)) + c.ContextToken.times(float64(w.Context)) + c.DraftToken.times(float64(w.Drafted))
	if w.PrefillTokens > 0 {
		t += c.Prefill + c.PrefillToken.times(float64(w.PrefillTokens)) + c.PrefillPair.times(w.PrefillPairs)
	}
	if w.Images > 0 {
		t += c.Image.times(float64(w.Images)) + c.ImageToken.times(float64(w.ImageTokens)) + c.ImagePair.times(w.ImagePairs)
	}
	return t + c.Block.times(float64(w.Blocks)) + c.Page.times(float64(w.Pages)) + c.Adapter.times(float64(w.Adapters))
}

// tabled takes the sums of the linear cost, and what the tables give.
type tabled Costs

// Time is the sum.
func (c tabled) Time(w *Work) Seconds {
	t := linear(c).Time(w) + curve(c.DecodeTable).at(float64(w.Decodes))
	if w.PrefillTokens > 0 {
		t += curve(c.PrefillTable).at(float64(w.PrefillTokens))
	}
	return t
}

// A curve is linear between its points, level ahead of the first, and goes on
// beyond the last as it came there.
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

// A costField is a coefficient of Costs under its name in a profile.
type costField struct {
	name  string
	value *Seconds
}

func (c *Costs) fields() []costField {
	return []costField{
		{"step", &c.Step},
		{"sequence", &c.Sequence},
		{"context_token", &c.ContextToken},
		{"draft_token", &c.DraftToken},
		{"prefill", &c.Prefill},
		{"prefill_token", &c.PrefillToken},
		{"prefill_pair", &c.PrefillPair},
		{"image", &c.Image},
		{"image_token", &c.ImageToken},
		{"image_pair", &c.ImagePair},
		{"block", &c.Block},
		{"page", &c.Page},
		{"adapter", &c.Adapter},
		{"cold", &c.Cold},
	}
}
