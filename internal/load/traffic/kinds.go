package traffic

import (
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Datasets are the kinds of dataset that are Pitot's own.
func Datasets() map[string]workload.Kind {
	newRandom := func() random { return random{drawn: defaultDrawn(), Texts: 1} }
	return map[string]workload.Kind{
		"random": {
			New: func() workload.Dataset { d := newRandom(); return &d }, Drawn: true, Unwritten: true,
		},
		"random-mm": {
			New: func() workload.Dataset {
				return &randomMM{random: newRandom(), Images: 1, ImageSizes: "256x256=0.5,1280x720=0.5"}
			}, Drawn: true, Unwritten: true, Chats: true,
		},
		"chat": {
			New:   func() workload.Dataset { return newChat("chat", "uniform(2,6)", "64", "exponential(5s)") },
			Drawn: true, Unwritten: true, Chats: true,
		},
		"agent": {
			New: func() workload.Dataset {
				return newChat("agent", "uniform(4,12)", "lognormal(300,1)", "lognormal(1s,1)")
			},
			Drawn: true, Unwritten: true, Chats: true,
		},
		"sharegpt":      {New: func() workload.Dataset { return new(shareGPT) }},
		"custom":        {New: func() workload.Dataset { return new(custom) }, Dated: true},
		"trace":         {New: func() workload.Dataset { return new(traced) }, Unwritten: true, Timed: true},
		"conversations": {New: func() workload.Dataset { return &replayedTalks{History: "live"} }, Chats: true, Dated: true},
	}
}

// Descriptions of datasets, in the words of show/words.
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
