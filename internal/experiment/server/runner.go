package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// A runner is one way of starting servers.
type runner interface {
	// command is the process of this machine that lasts as long as the server.
	command(s design.ServerSetup, h Handle) (proc.SessionCommand, error)
	// living names the parts of a server other than that process.
	living(ctx context.Context, h Handle, o Options) ([]string, error)
	// end ends the parts other than that process; forced if asking was not enough.
	end(ctx context.Context, e ending) (forced bool, err error)
	// sweep ends parts that may have come up while that process ended.
	sweep(ctx context.Context, e ending) error
	// shell runs a script where the server's devices are.
	shell(ctx context.Context, h Handle, o Options, script string) (string, error)
}

// runners by their names in files.
var runners = map[design.Runner]runner{
	design.Local:   local{},
	design.Docker:  container{"docker"},
	design.Podman:  container{"podman"},
	design.SSH:     remote{},
	design.Kubectl: cluster{},
}

func runnerNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(runners)) {
		names = append(names, string(name))
	}
	return names
}

// local is a process of this machine, and nothing besides it.
type local struct{}

func (local) command(s design.ServerSetup, _ Handle) (proc.SessionCommand, error) {
	return proc.SessionCommand{Args: []string{"/bin/sh", "-c", s.Command}, Env: pairs(s.Env), Dir: s.Cwd}, nil
}

func (local) living(context.Context, Handle, Options) ([]string, error) { return nil, nil }

func (local) end(context.Context, ending) (bool, error) { return false, nil }

func (local) sweep(context.Context, ending) error { return nil }

func (local) shell(ctx context.Context, _ Handle, o Options, script string) (string, error) {
	return o.output(ctx, proc.Question{Args: []string{"/bin/sh", "-c", script}})
}

// pairs are the variables of an environment, in order.
func pairs(env map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}

// container is one of docker or podman. The client stays in the foreground, so that its
// output is the log and its exit code that of the server.
type container struct{ program string }

// label marks containers of Pitot.
const label = "pitot.server"

func (c container) command(s design.ServerSetup, h Handle) (proc.SessionCommand, error) {
	client, err := installed(c.program)
	if err != nil {
		return proc.SessionCommand{}, err
	}
	// Without a log driver the output is in the log only: the daemon's own copy would have no bound.
	args := []string{client, "run", "--rm", "--log-driver", "none", "--name", h.Container, "--label", label + "=" + h.Tree.Mark}
	if s.Cwd != "" {
		args = append(args, "--workdir", s.Cwd)
	}
	var env []string
	for _, pair := range pairs(s.Env) {
		if name, _, _ := strings.Cut(pair, "="); ofClient(name) {
			args = append(args, "--env", pair)
		} else {
			args = append(args, "--env", name) // others see the command line, and not the environment
			env = append(env, pair)
		}
	}
	script := strings.Join([]string{`exec "$@"`, s.Options, quoted(s.Image), s.Command}, " ")
	return proc.SessionCommand{Args: append([]string{"/bin/sh", "-c", script, "sh"}, args...), Env: env}, nil
}

// ofClient reports whether a variable of a container would change what its client does, if
// the client had it.
func ofClient(name string) bool {
	return slices.ContainsFunc([]string{"PATH", "HOME", "DOCKER_", "CONTAINER", "XDG_", "PITOT_", "LD_"}, func(begin string) bool {
		return strings.HasPrefix(name, begin)
	})
}

func (c container) output(ctx context.Context, o Options, args ...string) (string, error) {
	out, err := o.output(ctx, proc.Question{Args: append([]string{c.program}, args...)})
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "no such container") {
		return out, nil // it is gone
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", c.program, args[0], err)
	}
	return out, err
}

func (c container) living(ctx context.Context, h Handle, o Options) (found []string, err error) {
	out, err := c.output(ctx, o, "ps", "--all", "--filter", "label="+label+"="+h.Tree.Mark, "--format", "{{.Names}}")
	for _, name := range strings.Fields(out) {
		found = append(found, "container "+name)
	}
	return found, err
}

func (c container) end(ctx context.Context, e ending) (forced bool, err error) {
	ctx, done := e.orHurry(ctx)
	defer done()
	e.warn("server.waiting-exit", "limit", e.stopTimeout())
	e.Waits.Command += e.stopTimeout()
	_, err = c.output(ctx, e.Options, "stop", "-t", fmt.Sprint(int(e.stopTimeout().Seconds())), e.handle.Container)
	return false, err
}

func (c container) sweep(ctx context.Context, e ending) error {
	_, err := c.output(ctx, e.Options, "rm", "--force", e.handle.Container)
	found, looked := c.living(ctx, e.handle, e.Options)
	if len(found) > 0 {
		return errors.Join(err, still(found))
	}
	return looked
}

func (container) shell(ctx context.Context, h Handle, o Options, script string) (string, error) {
	return local{}.shell(ctx, h, o, script)
}

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
