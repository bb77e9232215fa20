package comparing

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A refusal is why a question has no answer; see view.Refused.
type refusal struct {
	setting string
	why     plan.Message
	values  []string
}

// in is the refusal in a language; nil of none.
func (r *refusal) in(lang *words.Language) *view.Refused {
	if r == nil {
		return nil
	}
	return &view.Refused{Setting: r.setting, Text: doc.Clean(lang.Say(r.why)), Values: r.values}
}

// refusalOf is an error that whoever asked can do something about; nil of others.
func refusalOf(err error) *refusal {
	if problems := problemsOf(err); problems != nil {
		var why []string
		for _, p := range problems {
			p.Hint = "" // it is in the words of a command line
			why = append(why, p.Under(""))
		}
		return &refusal{setting: settingOf(problems[0]), why: plan.Text(strings.Join(why, "; "))}
	}
	if errors.As(err, new(session.UsageError)) || errors.Is(err, compare.ErrAllVoid) {
		return &refusal{setting: "runs", why: plan.Text(strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	return nil
}

// loadsDiffer refuses variants that met different loads. Those of one size may be put together.
func loadsDiffer(why plan.Message) *refusal {
	r := &refusal{setting: "loads", why: why}
	if settings, _ := why.Args["settings"].(string); why.Code == compare.LoadsDiffer && settings != "" {
		r.values = strings.Split(settings, ",")
	}
	return r
}

func variantsOf(c compare.Comparison) (names []string) {
	for _, load := range c.Workloads {
		for _, v := range load.Variants {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

func command(name string, asked view.Asked, file string, further ...string) string {
	line := []string{"pitot", name}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				line = append(line, flag, v)
			}
		}
	}
	percent := func(share float64) string {
		if share == 0 {
			return ""
		}
		return strconv.FormatFloat(100*share, 'g', 6, 64) + "%"
	}
	line = append(line, asked.Runs...)
	add("--baseline", asked.Baseline)
	add("--level", percent(asked.Level))
	add("--margin", percent(asked.Margin))
	add("--ignore", asked.Ignore...)
	add("--by", asked.By)
	add("--fail-if", asked.Gates...)
	add("--store", file)
	for _, flag := range []struct {
		name string
		on   bool
	}{{"--paired", asked.Paired}, {"--single-runs", asked.Single}, {"--predicted", asked.Predicted}} {
		if flag.on {
			line = append(line, flag.name)
		}
	}
	line = append(line, further...)
	for i, word := range line {
		line[i] = shell.Quote(word)
	}
	return strings.Join(line, " ")
}
