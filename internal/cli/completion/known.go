package completion

import (
	"maps"
	"slices"

	own "github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// Names are those of the program; runs lists the stored ones.
func Names(runs func() []string) Known {
	var protocols []string
	for _, p := range endpoint.Protocols() {
		protocols = append(protocols, string(p))
	}
	fleet := own.FleetNames()
	bench := Line{[]string{"bench_serving"}, slices.Concat(sglang.Flags(), fleet)}
	return Known{
		Values: map[string][]string{
			"profile": profile.Names(), "protocol": protocols, "client": {"h1", "nethttp"}, "report": {"pitot", "vllm", "sglang", "json"},
			"fleet":    {session.LocalFleet},
			"cache":    {"cold", "primed", "warm"},
			"workload": slices.Sorted(maps.Keys(traffic.Datasets())), "arrival": slices.Sorted(maps.Keys(traffic.Arrivals())),
		},
		Foreign: map[string]Line{
			"vllm": {[]string{"bench", "serve"}, slices.Concat(vllm.Flags(), fleet)}, "sglang": bench, "python": {[]string{"-m", "sglang.bench_serving"}, bench.Flags},
		},
		Runs:  runs,
		Args:  map[string][]string{"predict": profile.Names(), "profiles show": profile.Names(), "profiles check": profile.Names(), "profiles fit": profile.Names()},
		Takes: []string{"runs show", "runs report", "runs export", "runs rm", "runs tag", "compare", "note", "plan"},
	}
}
