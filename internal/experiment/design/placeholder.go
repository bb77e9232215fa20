package design

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/pitot-bench/pitot/internal/plan"
)

func (e *Experiment) Check() plan.Problems { return nil }
func (e *Experiment) Expanded() []Variant  { return e.Variants }
func Order(variants int, d Design, block int) []int {
	if variants == 2 {
		return []int{0, 1, 1, 0}
	}
	var o []int
	for i := range variants {
		o = append(o, i)
	}
	return o
}
func LoadSeed(seed uint64, block, repeat int) uint64 { return seed*1000 + uint64(block*100+repeat) }
func Words(s string) ([]string, error)               { return strings.Fields(s), nil }

type ABOptions struct {
	Before, After, URL, Restart, Until, Precision, Cache, WarmUp, Level, Margin, Name string
	Same                                                                              bool
	Blocks, Runs, MaxBlocks                                                           int
	Seed                                                                              uint64
	Budget                                                                            time.Duration
	FailIf, Command                                                                   []string
}

func AB(o ABOptions) (*Experiment, plan.Problems) {
	side := func(name, s string) Variant {
		if p, ok := strings.CutPrefix(s, "profile:"); ok {
			return Variant{Name: name, Server: Server{Profile: p}}
		}
		return Variant{Name: name, Server: Server{Command: s}}
	}
	return &Experiment{Version: 1, Name: o.Name, Variants: []Variant{side("before", o.Before), side("after", o.After)},
		Workloads: []Workload{{Name: "load", Command: strings.Join(o.Command, " ")}}, Design: Design{Blocks: o.Blocks, Seed: o.Seed}}, nil
}
func (e *Experiment) Same() bool            { return false }
func (e *Experiment) YAML() ([]byte, error) { return yaml.Marshal(e) }
func Read(file string, data []byte) (*Experiment, *plan.Document, error) {
	e := new(Experiment)
	err := yaml.Unmarshal(data, e)
	return e, nil, err
}
