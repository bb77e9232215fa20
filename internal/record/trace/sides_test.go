package trace

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
)

// Environments of another program go under roles that are names, and no more of them than a run can have.
func TestSides(t *testing.T) {
	e := Environment{Client: &environment.Environment{Driver: "1"}, Instances: []*environment.Environment{
		{Role: "prefill", Process: &environment.Process{Args: []string{"--api-key", "CANARY"}}}, nil, {Role: "server"}, {Role: "a b"}, {},
	}}
	for range plan.MostSites {
		e.Instances = append(e.Instances, &environment.Environment{Role: "decode"})
	}
	e.Tidy()
	var names []string
	for name := range e.Sides {
		names = append(names, name)
	}
	if want := "prefill " + strings.Repeat("decode ", plan.MostSites-1) + "client"; strings.Join(names, " ") != want {
		t.Error(names)
	}
	if e.Side("prefill").Process.Args[1] != "***" || e.Side("client") != e.Client || e.Side("server") != nil {
		t.Errorf("%+v", e.Side("prefill").Process)
	}
}
