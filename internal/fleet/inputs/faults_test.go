package inputs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/plan"
)

const (
	lineLoad = "{arrival: {kind: at-once}, dataset: {kind: custom, data: lines.jsonl}}"
	lineMore = "request: {protocol: completions}\nrequests: 4\ngate: {concurrency: 2}\ntokenizer: {where: org/q}"
)

func lineFiles(t *testing.T) map[string]string {
	return map[string]string{
		"lines.jsonl":                  "{\"prompt\": \"one\", \"output_tokens\": 3}\n{\"prompt\": \"two\", \"output_tokens\": 4}\n",
		"hub/models--org--q/refs/main": "c1", "hub/models--org--q/snapshots/c1/tokenizer.json": content(t, "load", "tokenizer", "testdata", "qwen", "tokenizer.json"),
	}
}

// What a worker has under the same name with another content is told, and never used.
func TestAnotherContentIsRefused(t *testing.T) {
	spec := specOf(t, lineLoad, lineMore)
	controller := newMachine(t).write(t, lineFiles(t))
	worker := newMachine(t).write(t, map[string]string{
		"lines.jsonl": "{\"prompt\": \"other\", \"output_tokens\": 3}\n", "hub/models--org--q/refs/main": "c2", "hub/models--org--q/snapshots/c2/tokenizer.json": "{}",
	})
	p := ordered(t, spec, controller, worker, nil)
	needs, differs := p.supply.Check(t.Context())
	if want := []string{"file lines.jsonl", "tokenizer org/q (tokenizer.json)"}; len(needs) > 0 || !slices.Equal(names(p.inputs, differs), want) {
		t.Errorf("needs %q, differs %q, want %q", names(p.inputs, needs), names(p.inputs, differs), want)
	}
	if _, err := prepare(t, spec, p.supply.Deps()); err == nil || !strings.Contains(err.Error(), "has not come from the controller yet") {
		t.Errorf("the run was prepared: %v", err)
	}
}

// A pipe, a device, a socket, or a file whose size says that it is another one is not opened: that could wait without end.
func TestNothingIsOpenedThatMayBlock(t *testing.T) {
	t.Parallel()
	m := newMachine(t).write(t, map[string]string{"folder/file": "abc", "same": "abc"})
	if err := errors.Join(syscall.Mkfifo(m.at("pipe"), 0o600), syscall.Mkfifo(m.at("folder/pipe"), 0o600), os.Symlink(m.at("pipe"), m.at("link")), os.Symlink("/dev/zero", m.at("zero"))); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", m.at("s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	d := m.deps()
	folder := d.Folder
	d.Folder = func(name string) fs.FS { return regularOnly{t, folder(name)} }
	digest, _, _ := sum(t.Context(), strings.NewReader("abc"), 3)
	for _, tt := range []struct {
		in   fleet.Input
		want origin
	}{
		{fleet.Input{Kind: fleet.FileInput, Name: "pipe"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "link"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "zero"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "s"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "folder"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "folder", Path: "pipe"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "folder", Path: "pipe/"}, nowhere},
		{fleet.Input{Kind: fleet.TokenizerInput, Name: "pipe"}, nowhere},
		{fleet.Input{Kind: fleet.TokenizerInput, Name: "folder", Path: "pipe"}, nowhere},
		{fleet.Input{Kind: fleet.FetchedInput, Name: "file://pipe"}, nowhere},
		{fleet.Input{Kind: fleet.FileInput, Name: "same", Size: 2}, different},
		{fleet.Input{Kind: fleet.FileInput, Name: "same", Size: 4}, different},
		{fleet.Input{Kind: fleet.FileInput, Name: "same"}, different},
		{fleet.Input{Kind: fleet.FileInput, Name: "same", Size: 3}, here},
	} {
		tt.in.Digest, tt.in.Object = digest, "0"
		s := NewSupply(SupplyOptions{Inputs: []fleet.Input{tt.in}, Deps: d, Folder: m.at("kept")})
		s.Check(t.Context())
		if got := s.all[0].from; got != tt.want {
			t.Errorf("%s: %d, want %d", Title(tt.in), got, tt.want)
		}
	}
}

// regularOnly is a folder of which nothing else than files may be opened.
type regularOnly struct {
	t *testing.T
	fs.FS
}

func (f regularOnly) Stat(p string) (fs.FileInfo, error) { return fs.Stat(f.FS, p) }

func (f regularOnly) Open(p string) (fs.File, error) {
	if info, err := f.Stat(p); err == nil && !info.Mode().IsRegular() {
		f.t.Errorf("%s was opened", p)
		return nil, fs.ErrInvalid
	}
	return f.FS.Open(p)
}

// A worker does not see what only its own machine has, although a run there would read it.
func TestAWorkerSeesNothingElse(t *testing.T) {
	spec := specOf(t, lineLoad, lineMore)
	controller := newMachine(t).write(t, lineFiles(t))
	worker := newMachine(t).write(t, with(lineFiles(t), "more.jsonl", "x", "hub/models--org--q/snapshots/c1/chat_template.jinja", "x", "hub/models--org--r/snapshots/c/tokenizer.json", "{}", "/p/x.png", "x"))
	p := ordered(t, spec, controller, worker, nil)
	if needs, differs := p.supply.Check(t.Context()); len(needs)+len(differs) > 0 {
		t.Fatalf("needs %v, differs %v", needs, differs)
	}
	d := p.supply.Deps()
	_, open := d.Open("more.jsonl")
	_, read := d.Read("more.jsonl")
	_, tokenizer := d.Hub(true).Tokenizer(t.Context(), "org/r")
	_, _, dataset := d.Hub(true).Dataset(t.Context(), "org/d")
	_, fetched := d.Hub(true).Fetch(t.Context(), "file:///p/x.png")
	root, err := d.Hub(true).Tokenizer(t.Context(), "org/q")
	if err != nil {
		t.Fatal(err)
	}
	_, beside := d.Folder(root).Open("chat_template.jinja")
	for i, err := range []error{open, read, tokenizer, dataset, fetched, beside} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if files := d.Folder("/p"); files != nil {
		t.Error("there is a folder that the controller did not read")
	}
	if worker.opened["more.jsonl"]+worker.opened["file:///p/x.png"] > 0 {
		t.Errorf("opened %v", worker.opened)
	}
}

// An address is asked once on a worker. Another content, or none, is no difference to refuse: it
// comes from the controller.
func TestAddressesOnWorkers(t *testing.T) {
	l := loads(t)["pictures by address"]
	spec := specOf(t, l.stream, l.more)
	address := "https://example.org/a.png"
	for name, web := range map[string]string{"the same": l.files[address], "another content": "something else", "longer": l.files[address] + "x"} {
		controller, worker := newMachine(t).write(t, l.files), newMachine(t).write(t, with(l.files, address, web))
		p := ordered(t, spec, controller, worker, nil)
		needs, differs := p.supply.Check(t.Context())
		want := []string{address}
		if name == "the same" {
			want = nil
		}
		if !slices.Equal(names(p.inputs, needs), want) || len(differs) > 0 {
			t.Errorf("%s: needs %q, differs %q", name, names(p.inputs, needs), names(p.inputs, differs))
		}
		if want == nil {
			if got, err := prepare(t, spec, p.supply.Deps()); err != nil || got.digest != p.told.digest || worker.opened[address] != 1 {
				t.Errorf("%v, %v, asked %d times", got, err, worker.opened[address])
			}
		}
	}
	controller := newMachine(t).write(t, l.files)
	ledger := new(Ledger)
	d := ledger.Watch(controller.deps())
	for _, text := range []string{"one", "two"} {
		controller.web[address] = text
		r, err := d.Hub(false).Fetch(t.Context(), address)
		if err != nil || r.Close() != nil {
			t.Fatal(err)
		}
	}
	if _, err := ledger.Inputs(t.Context()); err == nil || !strings.Contains(err.Error(), "gave two contents while the run was prepared") {
		t.Error(err)
	}
}

// supplyOf is a Supply of one Input, whose objects come from fetch.
func supplyOf(t *testing.T, body []byte, fetch func(ctx context.Context, object string) (io.ReadCloser, error)) *Supply {
	t.Helper()
	digest, size, err := sum(t.Context(), bytes.NewReader(body), MaxSize)
	if err != nil {
		t.Fatal(err)
	}
	in := fleet.Input{Kind: fleet.FileInput, Name: "big.jsonl", Digest: digest, Size: size, Object: "0"}
	return NewSupply(SupplyOptions{Inputs: []fleet.Input{in}, Deps: newMachine(t).deps(), Folder: filepath.Join(t.TempDir(), "kept"), Fetch: fetch})
}

// broken fails in the middle.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection is gone")
	}
	return n, err
}

// What does not come whole is an error that names it, and leaves nothing behind.
func TestWhatComesDamaged(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), (partSize+100)/16)
	whole := func(object string) []byte {
		if object == "0.0" {
			return body[:partSize]
		}
		return body[partSize:]
	}
	for why, give := range map[string]func(object string) io.Reader{
		"":                             func(object string) io.Reader { return bytes.NewReader(whole(object)) },
		"what came is damaged: sha256": func(object string) io.Reader { b := bytes.Clone(whole(object)); b[7] ^= 1; return bytes.NewReader(b) },
		"has not the 2097248 bytes":    func(object string) io.Reader { return bytes.NewReader(whole(object)[1:]) },
		"not the 2097248 bytes ": func(object string) io.Reader {
			return io.MultiReader(bytes.NewReader(whole(object)), strings.NewReader("more"))
		},
		"the connection is gone": func(object string) io.Reader { return broken{bytes.NewReader(whole(object))} },
	} {
		s := supplyOf(t, body, func(_ context.Context, object string) (io.ReadCloser, error) { return io.NopCloser(give(object)), nil })
		if needs, differs := s.Check(t.Context()); len(needs) != 1 || len(differs) != 0 {
			t.Fatalf("needs %v, differs %v", needs, differs)
		}
		err := s.FetchAll(t.Context())
		left, _ := os.ReadDir(s.Folder)
		if why == "" {
			if err != nil || len(left) != 1 {
				t.Errorf("%v, %d files", err, len(left))
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "get file big.jsonl from the controller: ") || !strings.Contains(err.Error(), strings.TrimSpace(why)) || len(left) > 0 {
			t.Errorf("%v, want %q; %d files left", err, why, len(left))
		}
		if _, err := s.Deps().Open("big.jsonl"); err == nil {
			t.Errorf("%s: it can be opened", why)
		}
	}
}

// A content that was kept and is damaged is taken again. A Folder that cannot be is an error.
func TestWhatIsKept(t *testing.T) {
	body, asked := []byte("content"), 0
	fetch := func(context.Context, string) (io.ReadCloser, error) {
		asked++
		return io.NopCloser(bytes.NewReader(body)), nil
	}
	s := supplyOf(t, body, fetch)
	for i, spoil := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(s.file(s.all[0].Input), []byte("CONTENT"), 0o600) },
		func() error { return os.Truncate(s.file(s.all[0].Input), 3) },
	} {
		if err := errors.Join(os.MkdirAll(s.Folder, 0o700), spoilIf(s, spoil)); err != nil {
			t.Fatal(err)
		}
		again := NewSupply(s.SupplyOptions)
		needs, _ := again.Check(t.Context())
		if err := again.FetchAll(t.Context()); err != nil || asked != i+1 || len(needs) != 1 {
			t.Errorf("%d: %v, asked %d times, needs %v", i, err, asked, needs)
		}
		r, err := again.Deps().Open("big.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != "content" || r.Close() != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	disk := NewSupply(s.SupplyOptions)
	if err := errors.Join(os.Remove(disk.file(s.all[0].Input)), os.Symlink("/dev/full", disk.file(s.all[0].Input))); err != nil {
		t.Fatal(err)
	}
	disk.Check(t.Context())
	if err := disk.FetchAll(t.Context()); !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a full disk: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := s.SupplyOptions
	full.Folder = filepath.Join(file, "kept")
	bad := NewSupply(full)
	bad.Check(t.Context())
	if err := bad.FetchAll(t.Context()); err == nil || !strings.Contains(err.Error(), "get file big.jsonl") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

func spoilIf(s *Supply, spoil func() error) error {
	if _, err := os.Stat(s.file(s.all[0].Input)); err != nil {
		return nil
	}
	return spoil()
}

// A worker that waits for a controller that died does so no longer than its context.
func TestAControllerThatDies(t *testing.T) {
	js := bus(t)
	spec := specOf(t, lineLoad, lineMore)
	p := ordered(t, spec, newMachine(t).write(t, lineFiles(t)), newMachine(t), js)
	needs, _ := p.supply.Check(t.Context())
	for _, offered := range [][]int{nil, needs[:1]} { // no bucket, and one of two
		if err := p.ledger.Offer(t.Context(), js, "r1", offered); err != nil {
			t.Fatal(err)
		}
		gone := errors.New("the controller is gone")
		ctx, end := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { end(gone) })
		if err := p.supply.FetchAll(ctx); !errors.Is(err, gone) || !strings.Contains(err.Error(), "from the controller: ") {
			t.Errorf("%v", err)
		}
	}
}

// The server may be started again while a worker waits. One without room says so in one line.
func TestServersOfObjects(t *testing.T) {
	o := server.Options{Port: -1, StoreDir: t.TempDir()}
	first := serve(t, o)
	js := connect(t, first.ClientURL())
	spec := specOf(t, lineLoad, lineMore)
	p := ordered(t, spec, newMachine(t).write(t, lineFiles(t)), newMachine(t), js)
	needs, _ := p.supply.Check(t.Context())
	if err := p.ledger.Offer(t.Context(), js, "r1", needs[:1]); err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	go func() { taken <- p.supply.FetchAll(soon(t)) }()
	o.Port = first.Addr().(*net.TCPAddr).Port
	first.Shutdown()
	first.WaitForShutdown()
	again := connect(t, serve(t, o).ClientURL())
	if err := p.ledger.Offer(soon(t), again, "r1", needs); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	if got, err := prepare(t, spec, p.supply.Deps()); err != nil || got.digest != p.told.digest {
		t.Errorf("%v, %v", got, err)
	}
	small := connect(t, serve(t, server.Options{Port: -1, StoreDir: t.TempDir(), JetStreamMaxStore: 1000, JetStreamMaxMemory: 1000}).ClientURL())
	if err := p.ledger.Offer(soon(t), small, "r2", needs); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "insufficient") {
		t.Error(err)
	}
}

// A file that changes after it was noted is not given, nor one that is too large.
func TestFilesThatChange(t *testing.T) {
	js := bus(t)
	spec := specOf(t, lineLoad, lineMore)
	for name, change := range map[string]string{"longer": strings.Repeat("x", 200), "shorter": "x", "as long": strings.ToUpper(lineFiles(t)["lines.jsonl"])} {
		controller := newMachine(t).write(t, lineFiles(t))
		p := ordered(t, spec, controller, newMachine(t), js)
		controller.write(t, map[string]string{"lines.jsonl": change})
		err := p.ledger.Offer(t.Context(), js, "changing", every(p.inputs))
		if err == nil || !strings.Contains(err.Error(), "give the workers file lines.jsonl: it has changed since the run was prepared") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ledger := &Ledger{most: 50}
	if _, err := prepare(t, spec, ledger.Watch(newMachine(t).write(t, lineFiles(t)).deps())); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Inputs(t.Context()); err == nil || err.Error() != "file lines.jsonl: larger than 50 bytes" {
		t.Error(err)
	}
}

// Inputs that no controller makes are refused, and nothing is read or written for them.
func TestInputsThatCannotBe(t *testing.T) {
	good := fleet.Input{Kind: fleet.FileInput, Name: "a", Digest: strings.Repeat("0a", 32), Size: 1, Object: "0"}
	for why, spoil := range map[string]func(*fleet.Input){
		"not a SHA-256":         func(in *fleet.Input) { in.Digest = "../../etc/passwd" },
		"not a SHA-256 in":      func(in *fleet.Input) { in.Digest = strings.Repeat("0A", 32) },
		"larger than 64 GiB":    func(in *fleet.Input) { in.Size = MaxSize + 1 },
		"has -1 bytes":          func(in *fleet.Input) { in.Size = -1 },
		"is no path of a file":  func(in *fleet.Input) { in.Path = "../b" },
		"is no path of a file ": func(in *fleet.Input) { in.Path = "/b" },
		"no name in the object": func(in *fleet.Input) { in.Object = "" },
		"is given twice":        func(*fleet.Input) {},
	} {
		in, m := good, newMachine(t)
		spoil(&in)
		two := []fleet.Input{in, in}
		s := NewSupply(SupplyOptions{Inputs: two, Deps: m.deps(), Folder: m.at("kept")})
		needs, differs := s.Check(t.Context())
		if err := s.FetchAll(t.Context()); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(why)) || len(needs)+len(differs)+len(m.opened) > 0 {
			t.Errorf("%v, want %q; needs %v, differs %v, opened %v", err, why, needs, differs, m.opened)
		}
	}
	for _, run := range []string{"", "a.b", "../x", "*", strings.Repeat("x", 200)} {
		l := &Ledger{inputs: []*noted{{Input: good}}}
		if err := l.Offer(t.Context(), jetstream.JetStream(nil), run, []int{0}); err == nil || !strings.Contains(err.Error(), "is no name of a run") {
			t.Errorf("%q: %v", run, err)
		}
	}
	if err := new(Ledger).Offer(t.Context(), bus(t), "r", []int{3}); err == nil || err.Error() != "a worker asks for file 3 of 0" {
		t.Error(err)
	}
}

// More files than an Order can have are one clear error.
func TestTooManyFiles(t *testing.T) {
	l := new(Ledger)
	for i := range MaxInputs + 1 {
		l.note(&noted{Input: fleet.Input{Kind: fleet.FileInput, Name: fmt.Sprint(i)}})
	}
	if _, err := l.Inputs(t.Context()); err == nil || !strings.Contains(err.Error(), "the run reads 2001 files, and a fleet can be given 2000") {
		t.Error(err)
	}
}

// Contents of several parts, of none, and equal ones go through a real object store.
func TestPartsOfContents(t *testing.T) {
	js := bus(t)
	texts := map[string]string{"empty": "", "one part": strings.Repeat("x", partSize), "two": strings.Repeat("y", partSize+1), "the same as two": strings.Repeat("y", partSize+1)}
	controller, worker := newMachine(t).write(t, texts), newMachine(t)
	ledger := new(Ledger)
	d := ledger.Watch(controller.deps())
	for name := range texts {
		r, err := d.Open(name)
		if err != nil || r.Close() != nil {
			t.Fatal(err)
		}
	}
	inputs, err := ledger.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]bool{}
	for _, in := range inputs {
		objects[in.Object] = true
	}
	s := NewSupply(SupplyOptions{Inputs: inputs, Deps: worker.deps(), Folder: worker.at("kept"), Fetch: Fetcher(js, "r1")})
	needs, _ := s.Check(t.Context())
	give(t, pair{ledger: ledger, inputs: inputs, supply: s}, js, needs)
	for name, text := range texts {
		r, err := s.Deps().Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != text || r.Close() != nil {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if len(objects) != 3 {
		t.Errorf("%d objects", len(objects))
	}
}

// Key files and variables are no Inputs, a file of certificates is one. A worker's own secrets
// come before those that it was given.
func TestSecretsAreNotInputs(t *testing.T) {
	spec := specOf(t, "{name: a, arrival: {kind: at-once}, dataset: {kind: random}, key: {file: tenant.key}, headers: [{name: x-a, from: {env: A}}]}", `
request: {protocol: completions, headers: [{name: x-b, from: {file: b.key}}]}
requests: 2
`)
	spec.Target.CA, spec.Target.Key = "ca.pem", &plan.Source{Env: "KEY"}
	spec.Load[0].Mix = []plan.Part{{Override: plan.Override{Key: &plan.Source{File: "part.key"}}}}
	spec.Target.Headers = []plan.Header{{Name: "x", From: &plan.Source{File: "b.key"}}, {Name: "y", From: &plan.Source{Given: true}}, {Name: "z", Value: "z"}}
	files, vars := Secrets(spec)
	if !slices.Equal(files, []string{"b.key", "part.key", "tenant.key"}) || !slices.Equal(vars, []string{"A", "KEY"}) {
		t.Errorf("files %q, variables %q", files, vars)
	}
	ledger := new(Ledger)
	controller := newMachine(t).write(t, map[string]string{"ca.pem": "ca", "b.key": "b", "part.key": "p", "tenant.key": "t", "data": "d"})
	d := ledger.Watch(controller.deps())
	for _, name := range append(files, "ca.pem") {
		if _, err := d.Read(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"data", "tenant.key"} {
		if r, err := d.Open(name); err != nil || r.Close() != nil {
			t.Fatal(err)
		}
	}
	ledger.Plan(spec)
	inputs, err := ledger.Inputs(t.Context())
	if want := []string{"file ca.pem", "file data"}; err != nil || !slices.Equal(names(inputs, every(inputs)), want) {
		t.Errorf("%q, %v", names(inputs, every(inputs)), err)
	}
	unplanned := new(Ledger)
	if _, err := unplanned.Watch(controller.deps()).Read("ca.pem"); err != nil {
		t.Fatal(err)
	}
	if inputs, err := unplanned.Inputs(t.Context()); err != nil || len(inputs) > 0 {
		t.Errorf("without a Spec: %v, %v", inputs, err)
	}
	worker := newMachine(t).write(t, map[string]string{"b.key": "own", "ca.pem": "ca"})
	s := NewSupply(SupplyOptions{Inputs: inputs[:1], Deps: worker.deps(), Folder: worker.at("kept"), Spec: spec, Env: map[string]string{"A": "a", "PATH": "no"}, Files: map[string]string{"b.key": "given", "tenant.key": "t", "data": "no"}})
	if needs, differs := s.Check(t.Context()); len(needs)+len(differs) > 0 {
		t.Errorf("needs %v, differs %v", needs, differs)
	}
	got := s.Deps()
	for name, want := range map[string]string{"b.key": "given", "tenant.key": "t", "ca.pem": "ca", "part.key": "", "data": ""} {
		b, err := got.Read(name)
		if string(b) != want || errors.Is(err, fs.ErrNotExist) != (want == "") {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if a, ok := got.Env("A"); a != "a" || !ok {
		t.Errorf("A is %q, %v", a, ok)
	}
	if _, ok := got.Env("PATH"); ok {
		t.Error("a variable that the Spec does not name was set")
	}
}
