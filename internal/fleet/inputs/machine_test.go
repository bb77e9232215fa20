package inputs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/hub"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// A machine has all of its files in a folder, which stands for its root, and a hub's cache in
// /hub. It notes what was opened.
type machine struct {
	root   string
	web    map[string]string // contents by address
	opened map[string]int
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	return &machine{root: t.TempDir(), web: map[string]string{}, opened: map[string]int{}}
}

// at is where a file of the machine lies on this one.
func (m *machine) at(name string) string { return filepath.Join(m.root, name) }

// temp is its folder of temporary files, another one on each machine.
func (m *machine) temp() string { return "/tmp-of-" + filepath.Base(m.root) }

// write writes files of the machine.
func (m *machine) write(t *testing.T, all map[string]string) *machine {
	t.Helper()
	for name, text := range all {
		if strings.HasPrefix(name, "https://") {
			m.web[name] = text
			continue
		}
		name = inTemp(name, m.temp())
		err := errors.Join(os.MkdirAll(filepath.Dir(m.at(name)), 0o755), os.WriteFile(m.at(name), []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *machine) deps() run.Deps {
	kinds := run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()}
	maps.Copy(kinds.Datasets, vllm.Tool().Datasets)
	maps.Copy(kinds.Datasets, sglang.Tool().Datasets)
	return run.Deps{
		Kinds: kinds, Temp: m.temp(),
		Open:   func(name string) (workload.Reader, error) { m.opened[name]++; return files.Open(m.at(name)) },
		Read:   func(name string) ([]byte, error) { m.opened[name]++; return files.ReadSmall(m.at(name)) },
		Folder: func(name string) fs.FS { return files.Folder(m.at(name)) },
		Env:    func(string) (string, bool) { return "", false },
		Hub: func(bool) run.Hub {
			return machineHub{m, hub.New(hub.Config{Getenv: func(name string) string {
				return map[string]string{"HF_HUB_CACHE": m.at("hub"), "HOME": m.root, "MODELSCOPE_CACHE": m.at("scope")}[name]
			}, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }})}
		},
	}
}

// A machineHub is a cache, beside files by path.
type machineHub struct {
	m *machine
	*hub.Hub
}

func (h machineHub) Tokenizer(ctx context.Context, name string) (string, error) {
	if files.Exists(h.m.at(name)) {
		return name, nil
	}
	found, err := h.Hub.Tokenizer(ctx, name)
	return strings.TrimPrefix(found, h.m.root), err
}

func (h machineHub) Dataset(ctx context.Context, name string) (fs.FS, string, error) {
	return h.Hub.Dataset(name).FS(ctx)
}

func (h machineHub) Fetch(_ context.Context, address string) (io.ReadCloser, error) {
	h.m.opened[address]++
	if text, ok := h.m.web[address]; ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	if name, ok := strings.CutPrefix(address, "file://"); ok {
		return os.Open(h.m.at(name))
	}
	return nil, errors.New("no such address")
}

// specOf is a simulated run.
func specOf(t *testing.T, load, more string) plan.Spec {
	t.Helper()
	s, _, err := plan.Read("spec.yaml", []byte(fmt.Sprintf(`
version: 1
target: {simulated: true, engine: {profile: small-chat}}
seed: 9
load: [%s]
%s`, load, more)))
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// A told is what a run sends and when.
type told struct {
	digest   string
	requests int
	due      []trace.Instant
}

// prepare prepares a run and makes it.
func prepare(t *testing.T, spec plan.Spec, deps run.Deps) (told, error) {
	t.Helper()
	p, err := run.Prepare(t.Context(), spec, deps)
	if err != nil {
		return told{}, err
	}
	defer p.Close()
	digest, err := Digest(p.Requests(), p.Job().Due)
	if err != nil {
		return told{}, err
	}
	out := told{digest: digest, requests: p.Requests().N}
	r, err := p.Execute(t.Context(), nil)
	if err != nil {
		return out, err
	}
	records := slices.Clone(r.Trace.Records)
	slices.SortFunc(records, func(a, b *trace.Record) int { return a.Index - b.Index })
	for _, one := range records {
		out.due = append(out.due, one.Due)
	}
	return out, nil
}

// A pair is a controller that has prepared a run, and a worker that has its Inputs.
type pair struct {
	ledger *Ledger
	inputs []fleet.Input
	told   told
	supply *Supply
}

// ordered prepares a run on the controller, and makes the Supply of a worker.
func ordered(t *testing.T, spec plan.Spec, controller, worker *machine, js jetstream.JetStream) pair {
	t.Helper()
	p := pair{ledger: new(Ledger)}
	var err error
	if p.told, err = prepare(t, spec, p.ledger.Watch(controller.deps())); err != nil {
		t.Fatal(err)
	}
	p.ledger.Plan(spec)
	if p.inputs, err = p.ledger.Inputs(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sent []fleet.Input // as an Order carries them
	b, err := json.Marshal(p.inputs)
	if err == nil {
		err = json.Unmarshal(b, &sent)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.supply = NewSupply(SupplyOptions{Inputs: sent, Deps: worker.deps(), Folder: worker.at("kept"), Spec: spec, Fetch: Fetcher(js, "r1")})
	return p
}

// names are the titles of Inputs.
func names(inputs []fleet.Input, at []int) (out []string) {
	for _, i := range at {
		out = append(out, Title(inputs[i]))
	}
	return out
}

func soon(t *testing.T) context.Context {
	ctx, done := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(done)
	return ctx
}
