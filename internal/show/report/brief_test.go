package report

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// long are n texts of a hundred columns and more.
func long(what string, n int) (all []plan.Message) {
	for i := range n {
		all = append(all, plan.Text(fmt.Sprintf("%s %d%s", what, i, strings.Repeat(" of many words", 8))))
	}
	return all
}

// troubled are what may want room on a first screen, each of which a run may have.
var troubled = []struct {
	name string
	add  func(*metrics.Summary)
}{
	{"invalid", func(s *metrics.Summary) {
		s.Health.Verdict = trace.Verdict{Validity: trace.Invalid, Reasons: append(long("reason", 6),
			plan.Msg("verdict.processors-busy", "share", .98, "processors", 4), plan.Msg("verdict.sent-late", "late", 12.0, "limit", 10.0),
			plan.Msg("verdict.ran-out", "requests", 3))}
	}},
	{"failures", func(s *metrics.Summary) {
		s.Requests.Failed = 70
		for i, c := range trace.Classes() {
			s.Requests.Classes = append(s.Requests.Classes, metrics.Class{Class: c, Count: 7, Status: 500 + i, Example: strings.Repeat("x ", 300)})
		}
	}},
	{"cache", func(s *metrics.Summary) {
		s.Cache = &metrics.Cache{Declared: plan.ColdCache, Proof: metrics.Contradicted, Source: metrics.FromUsage, Share: .8}
		s.Run.Cache = &trace.Cache{Declared: plan.ColdCache, Reset: "/" + strings.Repeat("reset", 60)}
	}},
	{"devices", func(s *metrics.Summary) {
		watts, share := 700.0, .9
		s.Resources = &resources.Resources{Devices: &resources.Devices{
			Count: 8, Utilization: &share, Power: &watts, Temperature: &watts, MemoryUse: &share, MemoryUsed: &watts, Clock: &watts, ClockMin: &share, ClockLimit: &watts,
			Throttled: []resources.Throttled{{Device: "GPU-0", Reason: "hw-thermal-slowdown", Seconds: 40}}, Capped: &resources.Capped{Seconds: 12, Limit: &watts, Power: &watts, Peak: &watts},
		}}
	}},
	{"judgements", func(s *metrics.Summary) {
		for i := range 9 {
			o := plan.Objective{Metric: "ttft", Statistic: "p99", Limit: plan.Duration(time.Duration(i+1) * time.Millisecond)}
			s.Judgements = append(s.Judgements, metrics.Judgement{Objective: o, Value: .005, Known: i != 3, Met: i > 4, Attainment: metrics.Attainment{Failed: 3}})
		}
	}},
	{"cost", func(s *metrics.Summary) { s.Cost = &metrics.Cost{Price: 2.5, Devices: 8, Output: .44, All: .2} }},
	{"fleet", func(s *metrics.Summary) {
		s.Run.Notes = append(s.Run.Notes, long("a note on the fleet", 12)...)
		s.Run.Fleet = &trace.Fleet{Workers: make([]trace.FleetWorker, 40)}
	}},
	{"server", func(s *metrics.Summary) {
		s.Server = &metrics.ServerCounts{Queued: 9, Preemptions: 12, PrefixQueried: 10, PrefixHit: 4, Dropped: long("dropped", 1)[0]}
	}},
	{"limits", func(s *metrics.Summary) {
		for i := range 9 {
			s.Goodput.Objectives = append(s.Goodput.Objectives, plan.Objective{Metric: "itl", Limit: plan.Duration(time.Duration(i+1) * time.Second)})
		}
	}},
	{"names", func(s *metrics.Summary) {
		s.Run.Plan.URL, s.Run.Plan.Model, s.Run.Plan.Workload = "http://"+strings.Repeat("long.", 80), strings.Repeat("模型", 200), long("workload", 1)[0]
	}},
	{"parts", func(s *metrics.Summary) { s.Tenants, s.Turns = make([]metrics.Part, 30), make([]metrics.Part, 30) }},
}

// TestFirstScreenIsBounded adds troubles to a run, up to two and all but two of them: the first screen stays one, has
// the figures right below the verdict, and says where the rest is.
func TestFirstScreenIsBounded(t *testing.T) {
	runs := map[string]metrics.Summary{"steady": metrics.Summarize(sample(400, 0), metrics.Options{}), "short": metrics.Summarize(sample(4, 0), metrics.Options{})}
	for set := range uint(1) << len(troubled) {
		if n := bits.OnesCount(set); n > 2 && n < len(troubled)-2 {
			continue
		}
		for name, s := range runs {
			s.Run.Notes, s.Requests.Classes = slices.Clone(s.Run.Notes), nil
			g := *s.Goodput
			s.Goodput = &g
			for i, one := range troubled {
				if set&(1<<i) != 0 {
					one.add(&s)
				}
			}
			lang := words.Names()[bits.OnesCount(set)%2]
			var b strings.Builder
			if err := Brief(&b, s, words.In(lang)); err != nil {
				t.Fatal(err)
			}
			if why := unlikeAScreen(b.String(), s); why != "" {
				t.Fatalf("%s with set %b in %s: %s:\n%s", name, set, lang, why, b.String())
			}
		}
	}
}

// unlikeAScreen is why a text is no first screen; empty where it is one.
func unlikeAScreen(text string, s metrics.Summary) string {
	lines, rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), 0
	for _, line := range lines {
		rows += max(1, (doc.Width(line)+79)/80)
	}
	figures := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, " req/s · ") })
	below := map[bool]int{false: 1, true: 4}[s.Health.Verdict.Validity == trace.Invalid] // cause, remedy, effects, share
	last := lines[len(lines)-1]
	hides := len(s.Run.Notes) > 3 || s.Run.Plan.URL > "http://long" || len(s.Tenants) > 0
	switch {
	case len(lines) > briefLines:
		return fmt.Sprintf("%d lines", len(lines))
	case rows > 24:
		return fmt.Sprintf("%d rows of 80 columns", rows)
	case figures != below && figures != below+1: // where the requests have a line of their own
		return fmt.Sprintf("the figures are in line %d", figures+1)
	case hides && !strings.Contains(last, "--all"):
		return "it does not say where the rest is"
	}
	return ""
}
