package inspect

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// find is the process that serves, and whether there is one.
func (q *inquiry) find(ctx context.Context) (pid int, found bool) {
	port := q.port()
	switch q.Site.Kind {
	case plan.ByPID:
		pid, err := strconv.Atoi(q.Site.Name)
		return pid, err == nil && proc.Birth(pid) != ""
	case plan.Here:
		if port == 0 {
			return 0, false
		}
		l, listens := proc.ListenerOn(ctx, port)
		forwards := l.PID > 0 && slices.Contains(forwarders, program(l.Command))
		if listens && (l.PID == 0 || forwards) && q.published(ctx, port) {
			return q.inContainer(ctx, port)
		}
		return l.PID, listens && l.PID > 0 && !forwards
	case plan.OverSSH:
		pid := q.listener(ctx, port)
		return pid, pid > 0
	}
	return q.inContainer(ctx, port)
}

// forwarders are programs that listen here for a server elsewhere.
var forwarders = []string{"docker-proxy", "rootlessport", "slirp4netns", "pasta", "gvproxy", "conmon", "ssh", "autossh", "kubectl", "socat"}

// program is the name of the program of a command line.
func program(command string) string {
	name, _, _ := strings.Cut(command, " ")
	return path.Base(name)
}

// inContainer is the process that serves in a container.
func (q *inquiry) inContainer(ctx context.Context, port int) (pid int, found bool) {
	if pid = q.listener(ctx, port); pid == 0 { // the port is another one in there
		pid = q.first(ctx)
	}
	return pid, pid > 0
}

// published goes on in the container that a port of this machine is one of, if docker knows
// one.
func (q *inquiry) published(ctx context.Context, port int) bool {
	name := here(ctx, 256, plan.InDocker, "ps", "--filter", "publish="+strconv.Itoa(port), "--format", "{{.Names}}")
	at, err := plan.ParseSite(plan.InDocker + ":" + name)
	if err == nil {
		q.Site, q.out.Site = at, at.String()
		q.machine = machineAt(q.Subject)
	}
	return err == nil
}

// listener is the process of another machine that listens on a port; 0: none, or not known.
func (q *inquiry) listener(ctx context.Context, port int) int {
	if port == 0 {
		return 0
	}
	tables := q.ask(ctx, "", []probe.Ask{{Name: "tcp", Dir: "/proc/net/tcp", Limit: 256 << 10}, {Name: "tcp6", Dir: "/proc/net/tcp6", Limit: 256 << 10}})
	sockets := proc.Listening(tables.Text("tcp")+tables.Text("tcp6"), port)
	if len(sockets) == 0 {
		return 0
	}
	// Descriptors are many: the machine looks through them itself.
	search := fmt.Sprintf(`for p in /proc/[0-9]*; do case "$(ls -l "$p/fd" 2>/dev/null)" in *"%s"*) echo "${p#/proc/}"; exit 0 ;; esac; done`, sockets[0])
	found := q.ask(ctx, "", []probe.Ask{{Name: "owner", Kind: probe.Run, Args: []string{"sh", "-c", search}, Limit: 64}})
	pid, _ := strconv.Atoi(line(found.Text("owner"))) // none is 0
	return pid
}

// wrappers are programs that only start another one.
var wrappers = lazy.Regexp(`^(?:sh|bash|dash|ash|tini|dumb-init|catatonit|docker-init|s6-svscan|entrypoint.*|.*\.sh)$`)

// first is the first process of a container; of a shell or an init its child.
func (q *inquiry) first(ctx context.Context) int {
	pid := 1
	for range 6 {
		base := "/proc/" + strconv.Itoa(pid)
		a := q.ask(ctx, "", []probe.Ask{{Name: "cmdline", Dir: base + "/cmdline", Limit: 16 << 10}, {Name: "children", Dir: base + "/task/" + strconv.Itoa(pid) + "/children", Limit: 4 << 10}})
		words := strings.Split(a.Text("cmdline"), "\x00")
		if words[0] == "" {
			return 0
		}
		next := strings.Fields(a.Text("children"))
		if !wrappers.MatchString(path.Base(words[0])) || len(next) == 0 {
			return pid
		}
		child, err := strconv.Atoi(next[0])
		if err != nil {
			return pid
		}
		pid = child
	}
	return pid
}

// container finds the image of the container that serves. Its client is one of this machine.
func (q *inquiry) container(ctx context.Context, id string) {
	switch q.Site.Kind {
	case plan.InCluster:
		q.pod(ctx)
	case plan.InDocker, plan.InPodman:
		q.image(ctx, q.Site.Kind, q.Site.Name)
	case plan.OverSSH:
		q.out.Image.Container = id
	default:
		for _, client := range []string{"docker", "podman"} {
			if id != "" && q.out.Image.Name == "" {
				q.image(ctx, client, id)
			}
		}
		if q.out.Image.Name == "" {
			q.out.Image.Container = id
		}
	}
}

// here is the first line that a program of this machine prints; empty if it fails.
func here(ctx context.Context, limit int, args ...string) string {
	a, _ := probe.Local{}.Ask(ctx, "", []probe.Ask{{Name: "x", Kind: probe.Run, Args: args, Limit: limit}})
	return line(a.Text("x"))
}

// image asks docker or podman for the image of a container: by a template, since all that they
// would say has the variables of the container in it.
func (q *inquiry) image(ctx context.Context, client, name string) {
	fields := strings.Fields(here(ctx, 4<<10, client, "inspect", "--type", "container", "--format", "{{.Config.Image}} {{.Image}}", name))
	if len(fields) != 2 {
		return
	}
	q.out.Image = environment.Image{Name: fields[0], Digest: digest.FindString(fields[1])}
	if inRegistry := digest.FindString(here(ctx, 4<<10, client, "image", "inspect", "--format", `{{join .RepoDigests " "}}`, fields[1])); inRegistry != "" {
		q.out.Image.Digest = inRegistry
	}
}

var digest = lazy.Regexp(`sha256:[0-9a-f]{64}`)

// pod asks kubectl for the image of a pod's first container.
func (q *inquiry) pod(ctx context.Context) {
	form := "jsonpath={.status.containerStatuses[0].image} {.status.containerStatuses[0].imageID}"
	name := q.Site.Name
	if strings.Contains(name, "/") && !strings.HasPrefix(name, "pod/") {
		form = "jsonpath={.spec.template.spec.containers[0].image}"
	} else {
		name = "pod/" + strings.TrimPrefix(name, "pod/")
	}
	fields := strings.Fields(here(ctx, 4<<10, slices.Concat(q.kubectl(), []string{"get", name, "-o", form})...))
	if len(fields) > 0 {
		q.out.Image = environment.Image{Name: fields[0], Digest: digest.FindString(strings.Join(fields[1:], " "))}
	}
}

// trees settles working trees: the one that was given, or those that packages are imported from, the first of each. One
// that is none is left out.
func (q *inquiry) trees(ctx context.Context, root string, found []environment.Tree) {
	given := q.Tree != ""
	if given {
		found, root = []environment.Tree{{Path: q.Tree}}, ""
	}
	for _, t := range found[:min(len(found), mostTrees)] {
		same := func(o environment.Tree) bool {
			return o.Path == t.Path && t.Path != "" || o.Commit == t.Commit || o.Package == t.Package && t.Package != ""
		}
		if t.Commit == "" && path.IsAbs(t.Path) {
			asks := t.Asks()
			if root != "" { // git would see other files there
				asks = slices.DeleteFunc(asks, func(a probe.Ask) bool { return a.Kind == probe.Run })
			}
			t.Settle(q.ask(ctx, root, asks))
		}
		if t.Commit != "" && !slices.ContainsFunc(q.out.Trees, same) {
			q.out.Trees = append(q.out.Trees, t)
		}
	}
	if given && len(q.out.Trees) == 0 {
		q.note(noTree, "tree", q.Tree)
	}
}

// mostTrees are settled.
const mostTrees = 8

func line(text string) string { return strings.TrimSpace(text) }

func lastWord(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
