package cli

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/pitot-bench/pitot/internal/cli/experiments"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/fleet"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/run/collect/source"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/hub"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// kinds are the datasets and arrivals that a Spec can name: Pitot's own, and those of
// other tools.
func kinds() run.Kinds {
	k := run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()}
	for _, t := range tools() {
		maps.Copy(k.Datasets, t.Datasets)
		maps.Copy(k.Arrivals, t.Arrivals)
	}
	return k
}

// deps is the world around a run: this process. given are secrets by their paths; spool is
// where prompts may be kept.
func (p *Process) deps(given map[string]string, spoolBeside string) run.Deps {
	d := run.Deps{
		Kinds: kinds(), Open: func(name string) (workload.Reader, error) { return files.Open(name) }, Read: files.ReadSmall, Folder: files.Folder, Temp: os.TempDir(), Env: p.Env, Given: given, Secrets: p.secrets,
		Dial: p.Dial, Listen: p.Listen, Proxy: p.proxy(), Machine: p.environment(),
		Hub: func(download bool) run.Hub { return hubOf{p.hub(download)} },
	}
	d.Collectors = source.For
	if spoolBeside != "" {
		d.Spool = files.NewSpool(filepath.Dir(spoolBeside))
	}
	if p.Alone {
		d.Inspect = true
		d.Quiet = func(procs, chunks int) func() int {
			return machine.Quiet{Procs: procs, Heap: int64(chunks) * chunkBytes, Collect: p.getenv("GOGC") != ""}.Start().Stop
		}
	}
	return d
}

// joinFleet has the runs of this process sent by the fleet that flags or the environment name, if
// they do, until end is called.
func (p *Process) joinFleet(f flags.Fleet, simulated bool) (end func(), err error) {
	if p.fleet != nil && !f.Asked() { // the command around this one has joined
		return func() {}, f.Check(func(string) string { return flags.LocalFleet })
	}
	joined, err := fleet.Join(p.console(), f, simulated)
	before := p.fleet
	p.fleet = joined
	return func() {
		joined.Close()
		p.fleet = before
	}, err
}

// chunkBytes is what a chunk takes in memory, with what a growing slice wastes.
const chunkBytes = 24

// environment describes this machine and process.
func (p *Process) environment() trace.Environment {
	here := machine.Here()
	return trace.Environment{
		Pitot: Version(), Go: here.Go, OS: here.OS, Host: here.Host, CPUs: here.CPUs, FileLimit: here.FileLimit, Invocation: p.Args,
	}
}

// hub is the Hugging Face hub as this process sees it.
func (p *Process) hub(download bool) *hub.Hub {
	return hub.New(hub.Config{Getenv: p.getenv, Dial: p.Dial, Proxy: p.proxy(), Version: Version(), Download: download})
}

// hubOf adapts a hub to what a run asks of it.
type hubOf struct{ *hub.Hub }

// Dataset is the files of a dataset.
func (h hubOf) Dataset(ctx context.Context, name string) (fs.FS, string, error) {
	return h.Hub.Dataset(name).FS(ctx)
}

// known are the secrets of the environment, and what looks like one on the command line.
func (p *Process) known() *secret.Set {
	s := new(secret.Set)
	s.Add(append(secret.InEnv(p.getenv), secret.InArgs(experiments.Unfold(p.Args))...)...)
	return s
}

// proxy follows HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in either case.
func (p *Process) proxy() func(*url.URL) (*url.URL, error) {
	either := func(name string) string {
		return cmp.Or(p.getenv(name), p.getenv(strings.ToLower(name)))
	}
	c := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	return c.ProxyFunc()
}
