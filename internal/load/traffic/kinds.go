package traffic

import (
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Datasets are the kinds of dataset that are Pitot's own.
func Datasets() map[string]workload.Kind {
	return map[string]workload.Kind{
		"random": {
			New: func() workload.Dataset { return &random{drawn: defaultDrawn(), Texts: 1} }, Drawn: true, Unwritten: true,
		},
		"random-mm": {
			New: func() workload.Dataset {
				return &randomMM{random: random{drawn: defaultDrawn(), Texts: 1}, Images: 1, ImageSizes: "256x256=0.5,1280x720=0.5"}
			}, Drawn: true, Unwritten: true, Chats: true,
		},
		"chat": {
			New:   func() workload.Dataset { return newTalking("chat", "uniform(2,6)", "64", "exponential(5s)") },
			Drawn: true, Unwritten: true, Chats: true,
		},
		"agent": {
			New: func() workload.Dataset {
				return newTalking("agent", "uniform(4,12)", "lognormal(300,1)", "lognormal(1s,1)")
			},
			Drawn: true, Unwritten: true, Chats: true,
		},
		"sharegpt":      {New: func() workload.Dataset { return new(shareGPT) }},
		"custom":        {New: func() workload.Dataset { return new(custom) }, Dated: true},
		"trace":         {New: func() workload.Dataset { return &traced{BlockLen: DefaultBlock} }, Unwritten: true, Timed: true},
		"conversations": {New: func() workload.Dataset { return &recordedTalks{History: "live"} }, Chats: true, Dated: true},
	}
}

// What is sent, in the words of show/words.
const (
	besidePrefix plan.Code = "traffic.beside-prefix"
	loadBatches  plan.Code = "load.batches"
	loadRanked   plan.Code = "load.ranked"
	loadLengths  plan.Code = "load.lengths"
	loadSeen     plan.Code = "load.lengths-to"
	loadImages   plan.Code = "load.images"
	loadLater    plan.Code = "load.then"
	loadTurns    plan.Code = "load.turns"
	loadThink    plan.Code = "load.think"
	loadFormat   plan.Code = "load.format"
	loadModel    plan.Code = "load.model"
	loadLogs     plan.Code = "load.logs"
)

// said are the lengths, and the prefix if there is one.
func (d *drawn) said(tokens plan.Message) []plan.Message {
	switch {
	case len(d.seen) > 0 && d.seen[0].Output == 0:
		tokens = plan.Say(loadSeen, "file", d.Lengths, "output", d.Output)
	case d.Lengths != "":
		tokens = plan.Say(loadLengths, "file", d.Lengths)
	}
	if d.Prefix > 0 {
		return []plan.Message{tokens, plan.Say(workload.LoadPrefix, "tokens", d.Prefix)}
	}
	return []plan.Message{tokens}
}

// Describe says what is sent.
func (d *random) Describe() plan.Message { return workload.Describe("random", d.said(d.tokens())...) }

func (d *random) tokens() plan.Message {
	in := workload.Within(d.Input, d.InputRange)
	switch {
	case d.ask.Protocol == "rerank":
		return plan.Say(loadRanked, "documents", d.Texts, "input", in)
	case d.ask.Silent && d.Texts > 1:
		return plan.Say(loadBatches, "texts", d.Texts, "input", in)
	case d.ask.Silent:
		return plan.Say(workload.LoadInputs, "input", in)
	}
	return plan.Say(workload.LoadTokens, "input", in, "output", workload.Within(d.Output, d.OutputRange))
}

// Describe says what is sent.
func (d *randomMM) Describe() plan.Message {
	said := d.said(d.tokens())
	images := plan.Say(loadImages, "images", workload.Within(d.Images, d.ImageRange), "sizes", d.ImageSizes)
	return workload.Describe("random-mm", append([]plan.Message{said[0], images}, said[1:]...)...)
}

// Describe says what is sent.
func (d *talking) Describe() plan.Message {
	var first any = d.Input
	if d.Lengths != "" {
		first = plan.Say(loadLengths, "file", d.Lengths)
	}
	parts := []plan.Message{plan.Say(loadLater, "first", first, "later", d.TurnLen, "output", d.Output)}
	if d.Prefix > 0 {
		parts = append(parts, plan.Say(workload.LoadPrefix, "tokens", d.Prefix))
	}
	return workload.Describe(d.kind, append(parts, plan.Say(loadTurns, "turns", d.Turns), plan.Say(loadThink, "think", d.Think))...)
}

// Describe says what is sent.
func (d *shareGPT) Describe() plan.Message { return workload.Describe("sharegpt", plan.Text(d.Data)) }

// Describe says what is sent.
func (d *custom) Describe() plan.Message { return workload.Describe("custom", plan.Text(d.Data)) }

// Describe says what is sent.
func (d *recordedTalks) Describe() plan.Message {
	return workload.Describe("conversations", plan.Text(d.Data))
}

// Describe says what is sent.
func (d *traced) Describe() plan.Message {
	parts := []plan.Message{plan.Say(loadFormat, "file", d.Data, "format", d.format)}
	if d.Slice != "" {
		parts = append(parts, plan.Text(d.Slice))
	}
	if d.Model != "" {
		parts = append(parts, plan.Say(loadModel, "model", d.Model))
	}
	if d.LogType != "" {
		parts = append(parts, plan.Say(loadLogs, "type", d.LogType))
	}
	return workload.Describe("trace", parts...)
}
