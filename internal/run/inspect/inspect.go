// Package inspect finds the environment of the two sides of a run: of this machine, and of
// the process that serves, wherever it runs.
//
// A server is looked for at a plan.Site. It is asked in a few rounds by package probe, each of which depends on the
// one before: the process, then its packages and model, then working trees. Package environment reads the answers.
// Nothing is run in the server's own interpreter, nothing needs root, and nothing is an error: missing facts are
// left out, and where the user asked for them a note says so. Secrets are gone from the result.
package inspect

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/run/collect/source"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// Messages of this package.
const (
	unreachable plan.Code = "environment.unreachable"
	noProcess   plan.Code = "environment.no-process"
	noTree      plan.Code = "environment.no-tree"
	outOfTime   plan.Code = "environment.out-of-time"
	unreadNPUs  plan.Code = "environment.unread-npus"
	// unreadDetail is of a program whose output is of no known form.
	unreadDetail plan.Code = "environment.unread-detail"
)

// Limit is how long a server at a known place is asked, and Brief one that was found on this machine.
const (
	Limit = 10 * time.Second
	Brief = 2 * time.Second
)

// A Subject is the process or server to inspect.
type Subject struct {
	Site    plan.Site // zero: a process of this machine that listens at URL, if it is one of this machine
	URL     string    // of the target, for its port; may be empty
	Tree    string    // a working tree at the site; empty: those that packages are installed from
	Options []string  // further ones of the client of ssh or kubectl
	Asked   bool      // by the user, to whom anything not found is reported
	Secrets *secret.Set
	limit   time.Duration // of Server; 0: as LimitOf says
}

// Client is this machine, as far as files tell it.
func Client(ctx context.Context) *environment.Environment {
	ctx, cancel := context.WithTimeout(ctx, Brief)
	defer cancel()
	a, _ := probe.Local{Quick: true}.Ask(ctx, "", environment.MachineAsks) // missing answers are unknown facts
	e := &environment.Environment{Machine: environment.ReadMachine(a)}
	e.Bound()
	return e
}

// Machine is this machine with its devices and toolkits, and notes on what could not be read.
func Machine(ctx context.Context) (*environment.Environment, []plan.Message) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	q := &inquiry{Subject: Subject{Asked: true}, machine: probe.Local{}, out: new(environment.Environment)}
	a := q.ask(ctx, "", slices.Concat(environment.MachineAsks, environment.DriverAsks, environment.ToolkitAsks))
	q.out.Machine = environment.ReadMachine(a)
	q.out.ReadToolkits(a)
	q.devices(ctx, a)
	q.out.Bound()
	return q.out, q.notes
}

// Server is the environment of the server, with notes on facts that were asked for and not found. nil: nothing is
// known.
func Server(ctx context.Context, s Subject) (*environment.Environment, []plan.Message) {
	elsewhere := s.Site.IsZero() && s.URL != "" && !source.Local(s.URL)
	if s.Site.Kind == plan.Nowhere || elsewhere && s.Tree == "" || s.Site.IsZero() && s.URL == "" && !s.Asked {
		return nil, nil
	}
	limit := cmp.Or(s.limit, LimitOf(s))
	s.Site.Kind = cmp.Or(s.Site.Kind, plan.Here)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	q := &inquiry{Subject: s, machine: machineAt(s), out: &environment.Environment{Site: s.Site.String(), Role: s.Site.Role}}
	if elsewhere { // the tree that it was made from, which is here
		q.trees(ctx, "", nil)
	} else {
		q.run(ctx)
	}
	if ctx.Err() != nil {
		q.note(outOfTime, "limit", limit)
	}
	q.out.Bound()
	if known := *q.out; known.Site != "" {
		known.Site, known.Role = "", ""
		if known.IsZero() {
			return nil, q.notes
		}
	}
	if q.out.IsZero() {
		return nil, q.notes
	}
	return q.out, q.notes
}

// Servers are the environments of the processes of a deployment, nil for those of which nothing is known. All are asked
// at once.
func Servers(ctx context.Context, all []Subject) (found []*environment.Environment, notes []plan.Message) {
	found = make([]*environment.Environment, len(all))
	of := make([][]plan.Message, len(all))
	var asked sync.WaitGroup
	for i, s := range all {
		asked.Go(func() { found[i], of[i] = Server(ctx, s) })
	}
	asked.Wait()
	return found, slices.Concat(of...)
}

// LimitOf is how long Server takes at most.
func LimitOf(s Subject) time.Duration {
	if s.Asked || !s.Site.IsZero() {
		return Limit
	}
	return Brief
}

// portOf is the port of a URL, 0 if it has none.
func portOf(target string) int {
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" {
		return 0
	}
	n, err := strconv.Atoi(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	if err != nil {
		return 0
	}
	return n
}

// port is the one on which the process listens, 0 if it is not known.
func (s Subject) port() int { return cmp.Or(s.Site.Port, portOf(s.URL)) }

func machineAt(s Subject) probe.Machine {
	at := s.Site
	with := func(args ...string) probe.Machine { return probe.Shell{Args: args} }
	switch at.Kind {
	case plan.InDocker, plan.InPodman:
		return with(at.Kind, "exec", "-i", at.Name, "sh")
	case plan.OverSSH:
		return with(slices.Concat([]string{"ssh"}, s.Options, []string{"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "--", strings.Trim(at.Name, "[]"), "sh"})...)
	case plan.InCluster:
		return with(slices.Concat(s.kubectl(), []string{"exec", "-i", at.Name, "--", "sh"})...)
	}
	return probe.Local{}
}

func (s Subject) kubectl() []string {
	args := append([]string{"kubectl"}, s.Options...)
	if s.Site.Namespace != "" {
		args = append(args, "--namespace", s.Site.Namespace)
	}
	return args
}

// An inquiry is the asking of one server.
type inquiry struct {
	Subject
	machine probe.Machine
	failed  bool
	out     *environment.Environment
	notes   []plan.Message
}

// note adds a note if the user asked for the process.
func (q *inquiry) note(code plan.Code, args ...any) {
	if q.Asked {
		q.notes = append(q.notes, plan.Msg(code, args...))
	}
}

// ask asks the machine, and reports the first failure.
func (q *inquiry) ask(ctx context.Context, root string, asks []probe.Ask) probe.Answers {
	if q.failed {
		return nil
	}
	a, err := q.machine.Ask(ctx, root, asks)
	if err != nil && len(a) == 0 {
		q.failed = true
		if ctx.Err() == nil {
			q.note(unreachable, "site", q.Site.String(), "why", secret.Mask(q.Secrets.Hide(err.Error())))
		}
	}
	return a
}

// devices asks the programs of vendors, last, since one may hang; not ahead of a run where
// files tell enough, since they take the driver's time.
func (q *inquiry) devices(ctx context.Context, a probe.Answers) {
	if len(a.All("nvidia-gpu")) == 0 || q.Asked {
		a = append(a, q.ask(ctx, "", environment.DeviceAsks)...)
	}
	if unread := q.out.ReadDevices(a); unread != "" {
		q.note(unreadNPUs, "line", secret.Mask(q.Secrets.Hide(unread)))
	}
	if asks := q.out.DetailAsks(); asks != nil && q.Asked {
		for _, u := range q.out.ReadDetails(q.ask(ctx, "", asks)) {
			q.note(unreadDetail, "program", u.Program, "line", secret.Mask(q.Secrets.Hide(u.Line)))
		}
	}
}

func (q *inquiry) run(ctx context.Context) {
	pid, found := q.find(ctx)
	if !found && !q.Asked {
		return
	}
	base := "/proc/" + strconv.Itoa(pid)
	a := q.ask(ctx, "", slices.Concat(environment.MachineAsks, environment.DriverAsks, processAsks(base)))
	if q.failed {
		return
	}
	q.out.Machine = environment.ReadMachine(a)
	defer q.devices(ctx, a)
	q.container(ctx, environment.ContainerID(a.Text("cgroup")))
	if !found {
		port := q.port()
		if q.Site.Kind == plan.ByPID {
			port = 0
		}
		if q.Site.Kind == plan.ByPID || port > 0 {
			q.note(noProcess, "site", q.Site.String(), "port", port)
		}
		q.out.ReadToolkits(q.ask(ctx, "", environment.ToolkitAsks))
		q.trees(ctx, "", nil)
		return
	}
	q.process(ctx, pid, a)
}

func processAsks(base string) []probe.Ask {
	return []probe.Ask{
		{Name: "cmdline", Dir: base + "/cmdline", Limit: 128 << 10},
		{Name: "environ", Dir: base + "/environ", Limit: 128 << 10},
		{Name: "exe", Kind: probe.Link, Dir: base + "/exe"},
		{Name: "cwd", Kind: probe.Link, Dir: base + "/cwd"},
		{Name: "root", Kind: probe.Link, Dir: base + "/root"},
		{Name: "cgroup", Dir: base + "/cgroup", Limit: 16 << 10},
		{Name: "parent", Kind: probe.Lines, Dir: base + "/status", Match: "^PPid:", Limit: 256},
		{Name: "maps", Kind: probe.Lines, Dir: base + "/maps", Match: "/(site|dist)-packages/.*[.]so", Most: 512, Limit: 128 << 10},
	}
}

// process reads a process: its arguments and variables, its packages, its model, its trees.
func (q *inquiry) process(ctx context.Context, pid int, a probe.Answers) {
	p := environment.ReadProcess(pid, a.Text("cmdline"), a.Text("environ"), a.Text("cwd"))
	if p.Titled() {
		q.parentArgs(ctx, p, a.Text("parent"))
	}
	exe := path.Clean(line(a.Text("exe")))
	root := ""
	if to := line(a.Text("root")); to != "" && (to != "/" || q.foreignRoot(a)) {
		root = "/proc/" + strconv.Itoa(pid) + "/root"
	}
	sites := environment.PythonSites(p, exe, a.Text("maps"))
	name := environment.ModelName(p.Args)
	folders := environment.ModelFolders(p, name)
	asks := slices.Concat(environment.AscendAsks(p), environment.ToolkitAsks, environment.ModelAsks(folders))
	if sites != nil {
		asks = append(asks, environment.ModuleAsks(p)...)
	}
	for _, site := range sites {
		asks = append(asks, below("metadata", probe.Lines, site, "*.dist-info/METADATA"), below("source", probe.Text, site, "*.dist-info/direct_url.json"))
	}
	if len(asks) > 0 {
		b := q.ask(ctx, root, asks)
		q.out.ReadToolkits(b)
		var lines string
		for _, one := range b.All("metadata") {
			lines += one.Text
		}
		q.out.Packages = environment.ReadPackages(lines)
		if q.out.Model = environment.ReadModel(name, b); q.out.Model != nil && path.IsAbs(q.out.Model.Path) {
			q.out.Model.AddHashes(q.ask(ctx, root, q.out.Model.HashAsks()))
		}
		if sites != nil {
			q.out.Python = environment.PythonVersion(exe, lines)
		}
		q.trees(ctx, root, slices.Concat(environment.ReadModule(p, b), environment.ReadSources(b.All("source")), environment.VersionTrees(q.out.Packages)))
	}
	own := environment.Hide(p, q.Secrets)
	q.out.Process = p
	if m := q.out.Model; m != nil {
		m.Path = secret.Mask(m.Path)
	}
	*q.out = secret.Clean(own, secret.Clean(q.Secrets, *q.out)) // a folder may be named like a secret
}

func below(name string, kind probe.Kind, site probe.Ask, file string) probe.Ask {
	a := probe.Ask{Name: name, Kind: kind, Dir: site.Dir, Glob: file, Match: "^(Name|Version):", Most: 2, Limit: 128 << 10}
	if site.Glob != "" {
		a.Glob = site.Glob + "/" + file
	}
	return a
}

// foreignRoot reports whether a process of this machine sees other files than this one does, as those of containers
// do.
func (q *inquiry) foreignRoot(a probe.Answers) bool {
	_, local := q.machine.(probe.Local)
	return (local || q.Site.Kind == plan.OverSSH) && environment.ContainerID(a.Text("cgroup")) != ""
}

// parentArgs gives a process that has a title the arguments of the one that started it.
func (q *inquiry) parentArgs(ctx context.Context, p *environment.Process, status string) {
	for range 3 {
		parent, _ := strconv.Atoi(lastWord(status))
		if parent < 2 {
			return
		}
		base := "/proc/" + strconv.Itoa(parent)
		a := q.ask(ctx, "", processAsks(base))
		up := environment.ReadProcess(parent, a.Text("cmdline"), a.Text("environ"), "")
		if !up.Titled() {
			p.Args = up.Args
			if len(p.Env) == 0 {
				p.Env = up.Env
			}
			return
		}
		status = a.Text("parent")
	}
}
