package cli

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/experiments"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// experimentCmd is `pitot experiment`.
type experimentCmd struct {
	Run    experimentRunCmd    `cmd:"" help:"Carry out the experiment that a file describes."`
	Status experimentStatusCmd `cmd:"" help:"Show the state of an experiment, or list all."`
	Resume experimentResumeCmd `cmd:"" help:"Go on with an experiment that was interrupted or killed."`
}

// conduct are the flags of commands that carry out an experiment.
type conduct struct {
	Folder string `placeholder:"DIR" help:"Folder for the experiment's file, the logs of servers and the lab note. Default: the name of the experiment."`
	Lang   string `enum:"${languages}" default:"en" placeholder:"LANG" help:"Language of the answer and the lab note: ${enum} (${default})."`
	Yes    bool   `help:"End servers that a killed experiment has left running."`
	Quiet  bool   `short:"q" help:"Say nothing on the way."`
	outputs
	flags.Kept
}

type experimentRunCmd struct {
	File string `arg:"" placeholder:"FILE" help:"YAML file of the experiment; see docs/experiments.md."`
	Name string `placeholder:"NAME" help:"Name of the experiment in the store. Default: that of the file."`
	conduct
}

// Run carries it out.
func (c *experimentRunCmd) Run(p *Process) error {
	e, doc, err := p.readExperiment(c.File)
	if err != nil {
		return err
	}
	if c.Name != "" {
		e.Name = c.Name
	}
	return c.begin(p, e, explainedBy(doc))
}

// readExperiment reads a file.
func (p *Process) readExperiment(file string) (*design.Experiment, *plan.Document, error) {
	data, err := p.readSettings(file)
	if err != nil {
		return nil, nil, usage(err)
	}
	e, doc, err := design.Read(file, data)
	if err != nil {
		return nil, nil, usage(err)
	}
	return e, doc, nil
}

// explainedBy tells problems by their places in a document.
func explainedBy(doc *plan.Document) func(plan.Problems) error {
	return func(all plan.Problems) error { return doc.Explain(all) }
}

// prepared checks an experiment, and draws its seed if it has none.
func (p *Process) prepared(e *design.Experiment, explain func(plan.Problems) error) (*experiment.Plan, error) {
	if e.Design.Seed == 0 {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails
		e.Design.Seed = uint64(binary.BigEndian.Uint32(b[:])%1_000_000) + 1
	}
	made, err := experiment.Prepare(e, compiler{p})
	var problems plan.Problems
	if errors.As(err, &problems) {
		err = usage(explain(problems))
	}
	return made, err
}

// begin carries out a new experiment.
func (c *conduct) begin(p *Process, e *design.Experiment, explain func(plan.Problems) error) error {
	made, err := p.prepared(e, explain)
	if err := errors.Join(err, c.check()); err != nil {
		return err
	}
	s, err := p.openStore(c.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := c.clear(p, s, e.Name); err != nil {
		return err
	}
	text, err := e.YAML()
	if err != nil {
		return err
	}
	j := &experiment.Journal{Name: e.Name, File: p.secrets.Hide(string(text)), Started: time.Now(), Status: experiment.Running, Owner: owner()}
	j.Looks = experiment.Looks(e.Design)
	if j.Folder, err = c.newFolder(e.Name); err != nil {
		return err
	}
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	err = s.CreateExperiment(store.Experiment{Name: j.Name, Status: string(j.Status), Started: j.Started, Body: body})
	if errors.Is(err, store.ErrExperimentExists) {
		return exists(e.Name)
	}
	if err == nil {
		err = writeFile("--folder", filepath.Join(j.Folder, "experiment.yaml"), writes([]byte(j.File)))
	}
	if err != nil {
		return err
	}
	return c.carryOut(p, s, made, j)
}

// newFolder makes the folder of an experiment, which must be empty or not there.
func (c *conduct) newFolder(name string) (string, error) {
	dir := c.Folder
	if dir == "" {
		dir = strings.Map(func(r rune) rune {
			if strings.ContainsRune(`/\:*?"<>|`, r) {
				return '-'
			}
			return r
		}, name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "experiment.yaml")); err == nil {
		return "", usagef("--folder %s: has an experiment; name another folder", dir)
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		return "", usagef("--folder: %w", err)
	}
	return dir, nil
}

type experimentResumeCmd struct {
	Name string `arg:"" help:"Name of the experiment."`
	conduct
}

// Run goes on with it.
func (c *experimentResumeCmd) Run(p *Process) error {
	if err := c.check(); err != nil {
		return err
	}
	s, err := p.openStore(c.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	j, err := journalOf(s, c.Name)
	if err != nil {
		return err
	}
	if j.Status == experiment.Done {
		return usagef("experiment %s is complete; see `pitot compare %s`", j.Name, shellWord(j.Name))
	}
	if j.Status == experiment.Running && alive(j.Owner) {
		return usagef("experiment %s is under way in process %d", j.Name, j.Owner.PID)
	}
	if err := c.clear(p, s, ""); err != nil {
		return err
	}
	e, doc, err := design.Read(filepath.Join(j.Folder, "experiment.yaml"), []byte(j.File))
	if err != nil {
		return usage(err)
	}
	made, err := p.prepared(e, explainedBy(doc))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(j.Folder, "logs"), 0o755); err != nil {
		return err
	}
	j.Owner = owner()
	return c.carryOut(p, s, made, j)
}

// journalOf reads the journal of an experiment.
func journalOf(s *store.Store, name string) (*experiment.Journal, error) {
	row, err := s.Experiment(name)
	if errors.Is(err, store.ErrNoExperiment) {
		return nil, usagef("%s: no experiment has this name; `pitot experiment status` lists all", name)
	}
	if err != nil {
		return nil, err
	}
	return journal(row)
}

func journal(row store.Experiment) (*experiment.Journal, error) {
	j := new(experiment.Journal)
	if err := json.Unmarshal(row.Body, j); err != nil {
		return nil, fmt.Errorf("experiment %s in the store is damaged: %w", row.Name, err)
	}
	if j.Status == experiment.Running && !alive(j.Owner) {
		j.Status = experiment.Interrupted
	}
	return j, nil
}

type experimentStatusCmd struct {
	Name string `arg:"" optional:"" help:"Name of the experiment. Default: all."`
	JSON bool   `name:"json" help:"Print the journal as JSON."`
	Lang string `enum:"${languages}" default:"en" placeholder:"LANG" help:"Language of words: ${enum} (${default})."`
	flags.Kept
}

// Run shows it.
func (c *experimentStatusCmd) Run(p *Process) error {
	return p.with(c.Store, func(s *store.Store) error {
		var all []*experiment.Journal
		if c.Name != "" {
			j, err := journalOf(s, c.Name)
			if err != nil {
				return err
			}
			all = append(all, j)
		} else {
			rows, err := s.Experiments()
			if err != nil {
				return err
			}
			for _, row := range rows {
				j, err := journal(row)
				if err != nil {
					fmt.Fprintln(p.Stderr, "pitot:", err)
					continue
				}
				all = append(all, j)
			}
		}
		switch {
		case c.JSON:
			enc := json.NewEncoder(p.Stdout)
			enc.SetIndent("", "  ")
			return enc.Encode(all)
		case c.Name != "":
			return experiments.Status(p.Stdout, all[0], words.In(c.Lang))
		}
		return experiments.List(p.Stdout, all, words.In(c.Lang))
	})
}

// A compiler compiles the workloads of an experiment as the command line does.
type compiler struct{ p *Process }

// Command compiles a command line, and looks into its files.
func (c compiler) Command(words []string) (experiment.Load, error) {
	if len(words) == 0 {
		return experiment.Load{}, errors.New("no command; use bench, sim, vllm, sglang or python")
	}
	own := *c.p
	own.Args = words
	made, err := own.planOf(words)
	if err != nil {
		return experiment.Load{}, err
	}
	return experiment.Load{Spec: made.spec, Made: made}, nil
}

// Spec checks a Spec.
func (c compiler) Spec(s plan.Spec) (experiment.Load, error) {
	if problems := run.Check(s, kinds()); problems != nil {
		return experiment.Load{}, problems
	}
	return experiment.Load{Spec: s, Made: &compiled{spec: s, front: asStored{}, given: map[string]string{}}}, nil
}
