package ui

import (
	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/web"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// judged answers requests that need more than the store.
func judged(runs *store.Store, file, version string) web.Judged {
	p := comparing.NewPage(runs, file, version)
	return web.Judged{
		Compare: p.Compare, Note: p.Note, RunNote: p.RunNote,
		Experiments: func(lang *words.Language) (view.Experiments, error) { return comparing.Answers(runs, lang) },
		Experiment: func(name string, lang *words.Language) (view.Experiment, error) {
			return comparing.Answer(runs, name, lang)
		},
		Log: func(name string, leg int) (string, error) { return comparing.Log(runs, name, leg) },
	}
}
