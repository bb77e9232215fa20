package server

import (
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Site is where the process of a server is, with further options for the client of ssh or
// kubectl. It is zero for one of this machine, which is found by its port.
func (h Handle) Site() (at plan.Site, options []string) {
	switch h.Runner {
	case design.Docker, design.Podman:
		return plan.Site{Kind: string(h.Runner), Name: h.Container}, nil
	case design.SSH:
		at = plan.Site{Kind: plan.OverSSH, Name: h.Host}
	case design.Kubectl:
		at = plan.Site{Kind: plan.InCluster, Name: "deployment/" + h.Deployment, Namespace: h.Namespace}
	default:
		return plan.Site{}, nil
	}
	words, err := h.options()
	if err != nil { // not stored: the client may do without
		return at, nil
	}
	return at, Words(words)
}
