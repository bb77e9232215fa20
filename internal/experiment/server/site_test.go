package server

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/experiment/design"
)

func TestSiteOfAHandle(t *testing.T) {
	for _, c := range []struct {
		h       Handle
		site    string
		options []string
	}{
		{Handle{Runner: design.Local}, "", nil},
		{Handle{Runner: design.Docker, Container: "pitot-x"}, "docker:pitot-x", nil},
		{Handle{Runner: design.Podman, Container: "pitot-x"}, "podman:pitot-x", nil},
		{Handle{Runner: design.SSH, Host: "me@h", Options: "-p 2222 -i 'a key'"}, "ssh:me@h", []string{"-p", "2222", "-i", "a key"}},
		{Handle{Runner: design.Kubectl, Deployment: "vllm", Namespace: "prod", Options: "--context c"}, "kubectl:deployment/vllm@prod", []string{"--context", "c"}},
		{Handle{Runner: design.SSH, Host: "h", Withheld: true}, "ssh:h", nil},
	} {
		if at, options := c.h.Site(); at.String() != c.site || !slices.Equal(options, c.options) {
			t.Errorf("%+v: %s %q, want %s %q", c.h, at, options, c.site, c.options)
		}
	}
}
