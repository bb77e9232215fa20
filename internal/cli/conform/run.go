// Package conform is the command `pitot conform`: it starts clients against the truth server, reads their reports,
// and writes how wrong they are.
package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/proof/verify"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/conformity"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Cmd is `pitot conform`.
type Cmd struct {
	Run    runCmd    `cmd:"" default:"withargs" help:"Compare a client's report with the truth over a grid of loads: pitot conform [flags] -- CLIENT COMMAND."`
	Report reportCmd `cmd:"" help:"Show results of conform side by side, one column per client."`
}

// Help says where the flags are.
func (Cmd) Help() string {
	return "pitot conform run --help lists the flags and the placeholders of a command."
}

// runCmd is `pitot conform -- COMMAND`.
type runCmd struct {
	Grid    string        `default:"standard" placeholder:"GRID" help:"smoke, standard, full, a YAML file, or cells such as 'streams=64 arrivals=lockstep step=20ms; rate=100' (${default})."`
	Name    string        `placeholder:"TEXT" help:"Name of the client. Default: the first word of its command."`
	Format  string        `placeholder:"NAME" help:"Format of the client's report: ${conform_formats}. Default: detected."`
	Result  string        `placeholder:"PATTERN" help:"File that the client writes, with placeholders and *. Default: {result} if the command has it, else its standard output."`
	Out     []string      `short:"o" placeholder:"FILE" help:"Write the result to FILE.md, FILE.json or FILE.svg; may be repeated."`
	Repeat  int           `default:"1" placeholder:"N" help:"Runs of each cell (${default})."`
	CPU     string        `name:"cpu" placeholder:"N" help:"Processor to pin the client to, with the server on the others; any does not pin. Default: the last, if there are two and the system supports it."`
	Busy    bool          `help:"Run a busy loop on the client's processor in every cell."`
	Timeout time.Duration `default:"10m" placeholder:"TIME" help:"Time limit of a run (${default})."`
	Seed    uint64        `placeholder:"N" help:"Seed of the server's jitter and faults, and {seed} of the command. Default: 0."`
	Keep    string        `placeholder:"FOLDER" help:"Folder to keep the client's output in, one folder per run."`
	Command []string      `arg:"" optional:"" help:"The client. Default: pitot bench."`
}

// Help explains placeholders below the flags.
func (runCmd) Help() string {
	return "Placeholders of the command: {" + strings.Join(conform.Placeholders(), "}, {") + "}.\n\n" +
		"The word pitot at its start is this program; pitot bench and pitot vllm bench serve without {url} are given the flags that a cell takes."
}

// Run puts the client to the grid.
func (c runCmd) Run(sess *session.Session) error {
	cells, err := c.cells()
	if err := errors.Join(err, c.check(), checkOutputs(c.Out)); err != nil {
		return err
	}
	place, err := proc.Place(c.CPU)
	if err != nil {
		return session.Usagef("--cpu %s: %w", c.CPU, err)
	}
	sess.RemoveStale()
	folder, remove, err := c.folder()
	if err != nil {
		return err
	}
	defer remove()
	proc.LendFileLimit()
	release, err := makeRoom(place)
	if err != nil {
		return err
	}
	defer release()
	ctx, stop := sess.UntilInterrupt(context.Background())
	defer stop()
	t := trial{runCmd: c, sess: sess, placement: place, folder: folder}
	r, err := t.grid(ctx, cells)
	if len(r.Results) == 0 {
		return err
	}
	return errors.Join(write(sess, c.Out, []conform.Report{r}), err)
}

func (c runCmd) cells() ([]conform.Cell, error) {
	cells, known := conform.Named(c.Grid)
	var err error
	switch {
	case known:
	case strings.Contains(c.Grid, "="):
		if cells, err = conform.ParseCells(c.Grid); err != nil {
			err = session.Usagef("--grid: %w", err)
		}
	case filepath.Ext(c.Grid) == ".yaml" || filepath.Ext(c.Grid) == ".yml":
		data, readErr := files.ReadSmall(c.Grid)
		if readErr != nil {
			return nil, session.Usagef("--grid: %w", readErr)
		}
		cells, err = conform.ReadGrid(c.Grid, data)
		err = session.Usage(err)
	default:
		err = session.Usagef("--grid %q: must be one of %s, a .yaml file, or cells such as 'streams=64 step=20ms'", c.Grid, strings.Join(conform.GridNames(), ", "))
	}
	for i := range cells {
		cells[i].Busy = cells[i].Busy || c.Busy
	}
	return cells, errors.Join(err, enoughFilesFor(cells, machine.Here().FileLimit))
}

// enoughFilesFor refuses cells for which this process, in which the server runs,
// is bound to run out of files; so is then a client with the same limit.
func enoughFilesFor(cells []conform.Cell, limit uint64) error {
	var errs []error
	for _, cell := range cells {
		if need := uint64(cell.Streams + run.SpareFiles); limit > 0 && need > limit {
			errs = append(errs, session.Usagef("--grid: cell %q: %d streams need about %d open files, and the limit is %d; raise `ulimit -n`, or remove the cell", cell.Name, cell.Streams, need, limit))
		}
	}
	return errors.Join(errs...)
}

// check validates the other settings.
func (c runCmd) check() error {
	var errs []error
	if c.Repeat < 1 || c.Repeat > 1000 {
		errs = append(errs, session.Usagef("--repeat %d: must be from 1 to 1000", c.Repeat))
	}
	if c.Timeout <= 0 || c.Timeout > plan.MaxSpan {
		errs = append(errs, session.Usagef("--timeout %v: must be above 0, and at most %v", c.Timeout, plan.MaxSpan))
	}
	if _, ok := conform.FormatNamed(c.Format); !ok && c.Format != "" {
		errs = append(errs, session.Usagef("--format %q: must be one of %s", c.Format, strings.Join(conform.FormatNames(), ", ")))
	}
	if err := conform.CheckCommand(c.Command); err != nil {
		errs = append(errs, session.Usage(err))
	}
	if err := conform.CheckCommand([]string{c.Result}); err != nil {
		errs = append(errs, session.Usagef("--result: %w", err))
	}
	if !conform.Ours(c.words()) && !conform.HasServerFlag(c.words()) {
		errs = append(errs, session.Usagef("the command needs {url}, {base_url} or {port}, so that the client finds the server"))
	}
	return errors.Join(errs...)
}

func (c runCmd) words() []string {
	if len(c.Command) == 0 {
		return []string{"pitot", "bench"}
	}
	return c.Command
}

// folder is the folder that clients write to, and a function that removes it.
func (c runCmd) folder() (name string, remove func(), err error) {
	if c.Keep == "" {
		return files.MakeTemporary("conform")
	}
	if err := os.MkdirAll(c.Keep, 0o755); err != nil {
		return "", nil, session.Usagef("--keep: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(c.Keep, startUpName)); err == nil {
		return "", nil, session.Usagef("--keep %s: contains the files of an earlier run; use another folder", c.Keep)
	}
	name, err = filepath.Abs(c.Keep)
	return name, func() {}, err
}

// makeRoom moves this process, in which the server runs, off the client's processor; undo lets it go back. The
// server wants two processors for goroutines (truth.Server), and the runtime would soon follow those of the system
// down to one, unless GOMAXPROCS is set.
func makeRoom(p proc.Placement) (undo func(), err error) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(min(max(2, before), machine.MostProcs))
	back, err := p.MoveAway()
	if err != nil {
		runtime.GOMAXPROCS(before)
		return nil, err
	}
	return func() {
		runtime.GOMAXPROCS(before)
		back()
	}, nil
}

// A trial is a client's way through a grid.
type trial struct {
	runCmd
	sess      *session.Session
	placement proc.Placement
	folder    string
	startUp   conform.Usage
}

// grid runs every cell. The report of an interrupted one has the results until then.
func (t *trial) grid(ctx context.Context, cells []conform.Cell) (conform.Report, error) {
	r := conform.Report{
		Client: t.client(), Command: t.words(), Started: time.Now(), Pitot: t.sess.Version,
		Machine: conform.Machine{OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), ClientCPU: -1},
	}
	if cpus := t.placement.Started; cpus != nil {
		r.Machine.ClientCPU = cpus[0]
	}
	if err := t.measureStartUp(ctx, cells[0]); err != nil {
		return r, err
	}
	r.StartUp = t.startUp
	for i, cell := range cells {
		for repeat := range t.Repeat {
			result, err := t.run(ctx, cell, repeat, fmt.Sprintf("%02d-%d", i+1, repeat+1))
			if err != nil {
				return r, err
			}
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			r.Results = append(r.Results, result)
			if f, ok := formatOf(result); ok && r.Format == "" {
				r.Format, r.Definitions = f.Tool, conform.Definitions(f)
			}
			fmt.Fprintf(t.sess.Stderr, "[%d/%d] %s: %s\n", i+1, len(cells), cell.Name, conformity.Line(result, t.sess.Words()))
		}
	}
	return r, nil
}

func (t *trial) client() string { return cmp.Or(t.Name, filepath.Base(t.words()[0])) }

func formatOf(r conform.Result) (metrics.Definitions, bool) {
	if r.Claim == nil {
		return metrics.Definitions{}, false
	}
	return conform.FormatNamed(r.Claim.Format)
}

// startUpName is the cell of the single request, and its folder.
const startUpName = "start-up"

// measureStartUp lets the client make a single request. Its time is no part of a cell; and a command that fails
// here can do nothing.
func (t *trial) measureStartUp(ctx context.Context, like conform.Cell) error {
	cell := conform.Cell{Name: startUpName, Streams: 1, Requests: 1, Input: like.Input, Output: 2, Arrivals: conform.Spread, Step: time.Millisecond}
	server, err := t.serve(cell, 0)
	if err != nil {
		return err
	}
	run, err := t.startClient(ctx, cell, t.place(server, startUpName), server.Clock)
	log, stopErr := server.Stop()
	if err := errors.Join(err, stopErr); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if run.failure == "" && len(log.Requests) == 0 {
		run.failure = "it ended without one that asks the server for tokens"
	}
	if run.failure != "" {
		return fmt.Errorf("the client cannot make a single request: %s", strings.Join(append([]string{run.failure}, run.tail()...), "\n"))
	}
	if _, failure := t.claim(run); failure != "" {
		fmt.Fprintf(t.sess.Stderr, "%s: %s\n", startUpName, failure)
	}
	t.startUp = run.usage
	return nil
}

func (t *trial) run(ctx context.Context, cell conform.Cell, repeat int, name string) (conform.Result, error) {
	server, err := t.serve(cell, uint64(repeat))
	if err != nil {
		return conform.Result{}, err
	}
	load, neighbour := machine.WatchLoad(), func() time.Duration { return 0 }
	if cell.Busy {
		if neighbour, err = proc.StartBusyLoop(t.placement); err != nil {
			return conform.Result{}, errors.Join(err, second(server.Stop()))
		}
	}
	ended, err := t.startClient(ctx, cell, t.place(server, name), server.Clock)
	foreign := load.OtherProcessors(ended.usage.CPU + neighbour())
	log, stopErr := server.Stop()
	if err := errors.Join(err, stopErr); err != nil {
		return conform.Result{}, err
	}
	claim, failure := t.claim(ended)
	result := verify.Compare(verify.CellRun{Cell: cell, Log: log, Claim: claim, Usage: ended.usage, StartUp: t.startUp, Samples: ended.samples, Others: foreign, Records: ended.records()})
	result.Repeat = repeat
	if result.Failure = failure; failure != "" {
		result.Stderr = ended.tail()
	}
	return result, nil
}

func second[T any](_ T, err error) error { return err }

func (t *trial) claim(run clientRun) (*conform.Claim, string) {
	if run.failure != "" {
		return nil, run.failure
	}
	data, err := run.report()
	if err != nil {
		return nil, err.Error()
	}
	claim, err := verify.Read(t.Format, data)
	if err != nil {
		return nil, fmt.Sprintf("its report cannot be read: %v", err)
	}
	return &claim, ""
}

func (t *trial) serve(cell conform.Cell, repeat uint64) (*verify.Serving, error) {
	s, err := verify.Serve(cell, t.Seed+repeat)
	if errors.Is(err, verify.ErrCell) {
		return nil, session.Usagef("--grid: cell %s: %w", cell.Name, err)
	}
	return s, err
}

// place is the server, folder and seed that the client receives.
func (t *trial) place(s *verify.Serving, name string) conform.Place {
	p := s.Place()
	p.Dir, p.Seed = filepath.Join(t.folder, name), t.Seed
	p.Result = filepath.Join(p.Dir, "result.json")
	return p
}
