package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// A Handle lets another process find a server and end it. It has no secret.
type Handle struct {
	Runner  design.Runner `json:"runner"`
	Command string        `json:"command,omitempty"` // or the image, or the deployment, to name it to people
	URL     string        `json:"url,omitempty"`
	Started time.Time     `json:"started"`
	Machine string        `json:"machine"` // where Pitot ran

	// Tree is the process of that machine: the server, or the client that lasts as long.
	Tree proc.Tree `json:"tree"`

	Container string `json:"container,omitempty"` // its name

	Host string `json:"host,omitempty"` // of ssh
	// Remote is the process on that host. Its mark is known before it is started, the rest
	// when it has been.
	Remote proc.Tree `json:"remote,omitzero"`

	Deployment string `json:"deployment,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Manifest   string `json:"manifest,omitempty"` // absolute

	Options string `json:"options,omitempty"` // those of ssh and kubectl
	// Withheld means that the options had a secret, so that only the process that started the
	// server has them.
	Withheld    bool          `json:"options_withheld,omitempty"`
	withheld    string        // the options, in that process
	StopTimeout plan.Duration `json:"stop_timeout,omitzero"`
}

// commandBytes bounds the command in a Handle.
const commandBytes = 200

func newHandle(s design.ServerSetup, o Options, now time.Time) Handle {
	h := Handle{
		Runner: s.Runner, URL: o.clean(o.URL), Started: now.Round(0), Machine: proc.Host(),
		Host: s.Host, Deployment: s.Deployment, Namespace: s.Namespace, StopTimeout: s.StopTimeout,
	}
	h.Command = shortened(o.clean(nameOf(s)))
	h.Tree.Mark = newMark()
	switch s.Runner {
	case design.Docker, design.Podman:
		h.Container = "pitot-" + h.Tree.Mark
	case design.SSH:
		h.Remote.Mark = h.Tree.Mark + "-remote" // unique, should the host be this machine
	case design.Kubectl:
		h.Manifest = absolute(s.Manifest, s.Cwd)
	}
	if needs := s.Runner == design.SSH || s.Runner == design.Kubectl; needs {
		h.Withheld = o.clean(s.Options) != s.Options
	}
	if h.Withheld {
		h.withheld = s.Options
	} else {
		h.Options = s.Options
	}
	return h
}

// options are those of ssh or kubectl.
func (h Handle) options() (string, error) {
	if h.Withheld && h.withheld == "" {
		return "", fmt.Errorf("the options of %s have a secret and were not kept: look after %s by hand", h.Runner, h.Command)
	}
	return cmp.Or(h.withheld, h.Options), nil
}

func nameOf(s design.ServerSetup) string {
	switch {
	case s.Image != "":
		return strings.TrimSpace(s.Image + " " + s.Command)
	case s.Deployment != "":
		return "deployment/" + s.Deployment
	}
	return s.Command
}

func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= commandBytes {
		return text
	}
	return strings.ToValidUTF8(text[:commandBytes], "") + "..."
}

// absolute is the path of a manifest, which may also be a URL.
func absolute(file, dir string) string {
	if file == "" || strings.Contains(file, "://") || filepath.IsAbs(file) {
		return file
	}
	if path, err := filepath.Abs(filepath.Join(dir, file)); err == nil {
		return path
	}
	return file
}

// Leftover reports whether something of the server of a handle is still there, and what.
// The error means that this could not be found out.
func Leftover(ctx context.Context, h Handle, o Options) (alive bool, what plan.Message, err error) {
	o = o.withDefaults()
	r, known := runners[h.Runner]
	if !known {
		return false, plan.Message{}, fmt.Errorf("no such runner: %q", h.Runner)
	}
	found, err := remains(ctx, r, h, o)
	if len(found) == 0 {
		return false, plan.Message{}, err
	}
	return true, plan.Msg("server.leftover", "command", h.Command, "started", h.Started.Format(time.DateTime), "what", found).Map(o.clean), nil
}

// remains are the names of all that there is of a server.
func remains(ctx context.Context, r runner, h Handle, o Options) (found []string, err error) {
	members, err := h.Tree.Members()
	for _, m := range members {
		found = append(found, nameOfMember(m))
	}
	if near := h.Host == "" && h.Deployment == ""; near && len(found) == 0 && h.Machine != proc.Host() {
		err = errors.Join(err, fmt.Errorf("it was started on %s: look there", h.Machine))
	}
	elsewhere, failed := r.living(ctx, h, o)
	return append(found, elsewhere...), errors.Join(err, failed)
}

func nameOfMember(m proc.Member) string {
	return strings.TrimSpace(fmt.Sprintf("process %d %s", m.PID, shortened(m.Command)))
}

// EndLeftover ends the server of a handle, as Stop does. It is an error if something of it
// is there afterwards.
func EndLeftover(ctx context.Context, h Handle, o Options) error {
	o = o.withDefaults()
	r, known := runners[h.Runner]
	if !known {
		return fmt.Errorf("no such runner: %q", h.Runner)
	}
	limit := o.verifyLimit(ctx)
	ctx = context.WithoutCancel(ctx)
	if _, err := (ending{o, h, r}).end(ctx); err != nil {
		return err
	}
	if h.Runner != design.Kubectl {
		o.until(limit, func() bool { return !o.answers(ctx, h.URL) })
	}
	return nil
}

// newMark is a random name, of the letters and digits that names of containers may have.
func newMark() string { return strings.ToLower(rand.Text()[:16]) }
