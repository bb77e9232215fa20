package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A Site is where the process runs that an environment is read of. Files and flags write it as
//
//	local               this machine; the process that listens on the target's port
//	pid:123             a process of this machine
//	docker:NAME         a container; podman:NAME likewise
//	ssh:HOST            another host; the process there that listens on the target's port
//	kubectl:POD         a pod, or deployment/NAME; kubectl:POD@NAMESPACE in a namespace
//	none                nowhere: nothing is asked
//
// with :PORT behind it where the process listens on another port, and ROLE= ahead of it where it is one of a
// deployment of several: prefill=ssh:gpu-1:8100.
type Site struct {
	Role      string // prefill, decode ...; empty or Proxy: it answers at the target's URL
	Kind      string // one of siteKinds
	Name      string // number, container, host or pod
	Namespace string // of kubectl; empty: the client's own
	Port      int    // 0: that of the target's URL
}

// Proxy is the role of the process that answers at the target's URL.
const Proxy = "proxy"

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

// Serves reports whether the process answers at the target's URL.
func (p Site) Serves() bool { return p.Role == "" || p.Role == Proxy }

// String writes it; empty for the zero value.
func (p Site) String() string {
	text := p.Kind
	if p.Role != "" {
		text = p.Role + "=" + text
	}
	if p.Name != "" {
		text += ":" + p.Name
	}
	if p.Namespace != "" {
		text += "@" + p.Namespace
	}
	if p.Port > 0 {
		text += ":" + strconv.Itoa(p.Port)
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
	role, rest, hasRole := strings.Cut(text, "=")
	if !hasRole {
		role, rest = "", text
	}
	kind, name, named := strings.Cut(rest, ":")
	name, port, err := cutPort(name, kind == Here)
	p = Site{Role: role, Kind: kind, Name: name, Port: port}
	if kind == InCluster {
		p.Name, p.Namespace, _ = strings.Cut(name, "@")
	}
	alone := kind == Nowhere || kind == Here
	_, notNumber := strconv.ParseUint(p.Name, 10, 31)
	switch {
	case hasRole && !IsRole(role):
		return Site{}, fmt.Errorf("%q: ahead of = must be a role of lower-case letters, digits, _ and -, such as prefill; not client, plan or server", text)
	case hasRole && (kind == Nowhere || !slices.Contains(siteKinds, kind)):
		return Site{}, fmt.Errorf("%q: must be ROLE=TARGET, such as prefill=ssh:HOST or decode=pid:123; targets are local, pid:NUMBER, docker:NAME, podman:NAME, ssh:HOST and kubectl:POD", text)
	case !slices.Contains(siteKinds, kind):
		return Site{}, fmt.Errorf("%q: must be local, pid:NUMBER, docker:NAME, podman:NAME, ssh:HOST, kubectl:POD, kubectl:POD@NAMESPACE or none", text)
	case err != nil:
		return Site{}, fmt.Errorf("%q: %w", text, err)
	case alone && named && (p.Name != "" || p.Port == 0 || kind == Nowhere):
		return Site{}, fmt.Errorf("%q: nothing goes behind %s", text, kind)
	case !alone && p.Name == "":
		return Site{}, fmt.Errorf("%q: a name must follow, as in %s:NAME", text, kind)
	case kind == ByPID && (notNumber != nil || p.Name == "0" || p.Port > 0):
		return Site{}, fmt.Errorf("%q: must be the number of a process, as in pid:123", text)
	case badName(p.Name), badName(p.Namespace): // a client would take it for an option
		return Site{}, fmt.Errorf("%q: a name begins with no dash, and has no blanks", text)
	}
	return p, nil
}

// cutPort cuts :PORT off a name; all is whether the port stands alone. An address such as fd00::1 has none.
func cutPort(name string, all bool) (before string, port int, err error) {
	at := strings.LastIndexByte(name, ':')
	before = name[:max(at, 0)]
	number := name[at+1:]
	isNumber := number != "" && strings.Trim(number, "0123456789") == ""
	inBrackets := strings.HasPrefix(before, "[") && strings.HasSuffix(before, "]")
	if !isNumber || !all && at < 0 || at >= 0 && strings.Contains(before, ":") && !inBrackets {
		return name, 0, nil
	}
	if port, err = strconv.Atoi(number); err != nil || port < 1 || port > 65535 {
		return name, 0, errors.New("the port must be between 1 and 65535")
	}
	return before, port, nil
}

// IsRole reports whether a text can be the role of a process: it stands ahead of the names of its facts, as client
// and server do.
func IsRole(text string) bool {
	return roleName.MatchString(text) && !slices.Contains([]string{"client", "plan", "server"}, text)
}

var roleName = lazy.Regexp(`^[a-z][a-z0-9_-]{0,31}$`)

// Sites are those of the processes of a deployment, each role once. Files write them with blanks between them.
type Sites []Site

// MostSites is how many processes of a deployment are asked.
const MostSites = 32

func (s Sites) String() string {
	texts := make([]string, len(s))
	for i, p := range s {
		texts[i] = p.String()
	}
	return strings.Join(texts, " ")
}

// MarshalText writes them.
func (s Sites) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads them.
func (s *Sites) UnmarshalText(text []byte) error {
	words := strings.Fields(string(text))
	if len(words) == 0 {
		words = []string{""} // which is refused
	}
	if len(words) > MostSites {
		return fmt.Errorf("%d targets: at most %d can be given", len(words), MostSites)
	}
	*s = nil
	for _, word := range words {
		p, err := ParseSite(word)
		if err != nil {
			return err
		}
		same := func(o Site) bool { return o.Role == p.Role || o.Serves() && p.Serves() }
		if i := slices.IndexFunc(*s, same); i >= 0 {
			return fmt.Errorf("%s and %s have one role; name each, as in prefill-1=TARGET and prefill-2=TARGET", (*s)[i], p)
		}
		*s = append(*s, p)
	}
	return nil
}

// Serving is the site of the process that answers at the target's URL; zero: none is given.
func (s Sites) Serving() Site {
	if i := slices.IndexFunc(s, Site.Serves); i >= 0 {
		return s[i]
	}
	return Site{}
}

// Others are the sites of other processes.
func (s Sites) Others() []Site { return slices.DeleteFunc(slices.Clone(s), Site.Serves) }

// badName reports whether a name is none of a container, host, pod or namespace.
func badName(name string) bool {
	return strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}
