package session

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

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/run/collect/source"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/hub"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// Kinds are the datasets and arrivals that a Spec can name: Pitot's own, and those of
// other tools.
func Kinds() run.Kinds {
	k := run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()}
	for _, t := range known.Tools() {
		maps.Copy(k.Datasets, t.Datasets)
		maps.Copy(k.Arrivals, t.Arrivals)
	}
	return k
}

// Deps is the world around a run: this process. given are secrets by their paths; prompts may be spooled to the
// folder of spoolBeside.
func (s *Session) Deps(given map[string]string, spoolBeside string) run.Deps {
	d := run.Deps{
		Kinds: Kinds(), Open: func(name string) (workload.Reader, error) { return files.Open(name) }, Read: files.ReadSmall, Folder: files.Folder, Temp: os.TempDir(), Env: s.Env, Given: given, Secrets: s.Secrets,
		Dial: s.Dial, Listen: s.Listen, Proxy: s.Proxy(), Machine: s.environment(),
		Hub: func(download bool) run.Hub { return hubOf{s.hub(download)} },
	}
	d.Collectors = source.For
	if spoolBeside != "" {
		d.Spool = files.NewSpool(filepath.Dir(spoolBeside))
	}
	if s.Alone {
		d.Inspect = true
		d.Quiet = func(procs, chunks int) func() int {
			return machine.Quiet{Procs: procs, Heap: int64(chunks) * chunkBytes, Collect: s.Getenv("GOGC") != ""}.Start().Stop
		}
	}
	return d
}

// JoinFleet has the runs of this process sent by the fleet that flags or the environment name, if
// they do, until end is called.
func (s *Session) JoinFleet(f Fleet, simulated bool) (end func(), err error) {
	if s.fleet != nil && !f.HasFlag() { // the command around this one has joined
		return func() {}, f.Check(func(string) string { return LocalFleet })
	}
	joined, err := Join(s, f, simulated)
	before := s.fleet
	s.fleet = joined
	return func() {
		joined.Close()
		s.fleet = before
	}, err
}

// chunkBytes is the memory of a chunk, with the waste of a growing slice.
const chunkBytes = 24

// environment describes this machine and process.
func (s *Session) environment() trace.Environment {
	here := machine.Here()
	return trace.Environment{
		Pitot: s.Version, Go: here.Go, OS: here.OS, Host: here.Host, CPUs: here.CPUs, FileLimit: here.FileLimit, Invocation: s.Args,
	}
}

// hub is the Hugging Face hub as this process sees it.
func (s *Session) hub(download bool) *hub.Hub {
	return hub.New(hub.Config{Getenv: s.Getenv, Dial: s.Dial, Proxy: s.Proxy(), Version: s.Version, Download: download})
}

// hubOf adapts a hub to run.Hub.
type hubOf struct{ *hub.Hub }

func (h hubOf) Dataset(ctx context.Context, name string) (fs.FS, string, error) {
	return h.Hub.Dataset(name).FS(ctx)
}

// known are the secrets of the environment, and texts like secrets on the command line.
func (s *Session) known() *secret.Set {
	set := new(secret.Set)
	set.Add(append(secret.InEnv(s.Getenv), secret.InArgs(experiment.SplitServerArgs(s.Args))...)...)
	return set
}

// Proxy follows HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in either case.
func (s *Session) Proxy() func(*url.URL) (*url.URL, error) {
	either := func(name string) string {
		return cmp.Or(s.Getenv(name), s.Getenv(strings.ToLower(name)))
	}
	c := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	return c.ProxyFunc()
}
