package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Site is where the process runs that an environment is read of. Files and flags write it as
//
//	local               this machine; the process that listens on the target's port
//	pid:123             a process of this machine
//	docker:NAME         a container; podman:NAME likewise
//	ssh:HOST            another host; the process there that listens on the target's port
//	kubectl:POD         a pod, or deployment/NAME; kubectl:POD@NAMESPACE in a namespace
//	none                nowhere: nothing is asked
type Site struct {
	Kind      string // one of siteKinds
	Name      string // number, container, host or pod
	Namespace string // of kubectl; empty: the client's own
}

// The kinds of a Site.
const (
	Nowhere   = "none"
	Here      = "local"
	ByPID     = "pid"
	InDocker  = "docker"
	InPodman  = "podman"
	OverSSH   = "ssh"
	InCluster = "kubectl"
)

var siteKinds = []string{Nowhere, Here, ByPID, InDocker, InPodman, OverSSH, InCluster}

// IsZero reports whether no site was given.
func (p Site) IsZero() bool { return p.Kind == "" }

// String writes it; empty for the zero value.
func (p Site) String() string {
	text := p.Kind
	if p.Name != "" {
		text += ":" + p.Name
	}
	if p.Namespace != "" {
		text += "@" + p.Namespace
	}
	return text
}

// MarshalText writes it.
func (p Site) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads it.
func (p *Site) UnmarshalText(text []byte) error {
	read, err := ParseSite(string(text))
	if err == nil {
		*p = read
	}
	return err
}

// ParseSite reads a Site.
func ParseSite(text string) (p Site, err error) {
	kind, name, named := strings.Cut(text, ":")
	p = Site{Kind: kind, Name: name}
	if kind == InCluster {
		p.Name, p.Namespace, _ = strings.Cut(name, "@")
	}
	alone := kind == Nowhere || kind == Here
	_, notNumber := strconv.ParseUint(p.Name, 10, 31)
	switch {
	case !slices.Contains(siteKinds, kind):
		return Site{}, fmt.Errorf("%q: must be local, pid:NUMBER, docker:NAME, podman:NAME, ssh:HOST, kubectl:POD, kubectl:POD@NAMESPACE or none", text)
	case alone && named:
		return Site{}, fmt.Errorf("%q: nothing goes behind %s", text, kind)
	case !alone && p.Name == "":
		return Site{}, fmt.Errorf("%q: a name must follow, as in %s:NAME", text, kind)
	case kind == ByPID && (notNumber != nil || p.Name == "0"):
		return Site{}, fmt.Errorf("%q: must be the number of a process, as in pid:123", text)
	case badName(p.Name), badName(p.Namespace): // a client would take it for an option
		return Site{}, fmt.Errorf("%q: a name begins with no dash, and has no blanks", text)
	}
	return p, nil
}

// badName reports whether a name is none of a container, host, pod or namespace.
func badName(name string) bool {
	return strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}
