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

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/comparing"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// experimentCmd is `pitot experiment`.
type experimentCmd struct {
	Run    experimentRunCmd    `cmd:"" help:"Carry out the experiment that a file describes."`
	Status experimentStatusCmd `cmd:"" help:"Show the state of an experiment, or list all."`
	Resume experimentResumeCmd `cmd:"" help:"Go on with an experiment that was interrupted or killed."`
}

// experimentFlags are the flags of commands that carry out an experiment.
type experimentFlags struct {
	Folder string `placeholder:"DIR" help:"Folder for the experiment's file, the logs of servers and the lab note. Default: the name of the experiment."`
	Yes    bool   `help:"End servers that a killed experiment has left running, and go on with one that another machine was running."`
	Quiet  bool   `short:"q" help:"Say nothing on the way."`
	All    bool   `help:"At the end print the whole comparison, as pitot compare does."`
	flags.ProgressFlag
	comparing.Outputs
	flags.Page
	flags.StoreFlag
	Fleet session.Fleet `embed:"" group:"Fleet:"`
}

type experimentRunCmd struct {
	File string `arg:"" placeholder:"FILE" help:"YAML file of the experiment; see docs/experiments.md."`
	Name string `placeholder:"NAME" help:"Name of the experiment in the store. Default: that of the file."`
	experimentFlags
}

func (c *experimentRunCmd) Run(sess *session.Session) (err error) {
	defer func() { err = c.Settle(sess, err, otherErrors) }()
	e, doc, err := readExperiment(sess, c.File)
	if err != nil {
		return err
	}
	if c.Name != "" {
		e.Name = c.Name
	}
	return c.begin(sess, e, explainedBy(doc))
}

func readExperiment(sess *session.Session, file string) (*design.Experiment, *plan.Document, error) {
	data, err := sess.ReadSettings(file)
	if err != nil {
		return nil, nil, usage(err)
	}
	e, doc, err := design.Read(file, data)
	if err != nil {
		return nil, nil, usage(err)
	}
	return e, doc, nil
}

func explainedBy(doc *plan.Document) func(plan.Problems) error {
	return func(all plan.Problems) error { return doc.Explain(all) }
}

// prepareExperiment checks an experiment, and draws its seed if it has none.
func prepareExperiment(sess *session.Session, e *design.Experiment, explain func(plan.Problems) error) (*experiment.CheckedExperiment, error) {
	if e.Design.Seed == 0 {
		e.Design.Seed = drawSeed()
	}
	made, err := experiment.Prepare(e, sess)
	var problems plan.Problems
	if errors.As(err, &problems) {
		err = usage(explain(problems))
	}
	return made, err
}

// drawSeed is a seed of up to six digits.
func drawSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return uint64(binary.BigEndian.Uint32(b[:])%1_000_000) + 1
}

// begin carries out a new experiment.
func (c *experimentFlags) begin(sess *session.Session, e *design.Experiment, explain func(plan.Problems) error) error {
	experiment.AddSecrets(sess.Secrets, e)
	c.Asked = e.FailIf
	made, err := prepareExperiment(sess, e, explain)
	if err := errors.Join(err, c.Check()); err != nil {
		return err
	}
	end, err := c.join(sess, made)
	if err != nil {
		return err
	}
	defer end()
	s, err := sess.OpenStore(c.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := c.endOrphans(sess, s, e.Name); err != nil {
		return err
	}
	j := &experiment.Journal{Name: e.Name, Started: time.Now(), Status: experiment.Running, Owner: thisProcess()}
	j.Looks = experiment.Looks(e.Design)
	if err := j.Write(e, sess.Secrets); err != nil {
		return err
	}
	if j.Folder, err = c.newFolder(e.Name); err != nil {
		return err
	}
	if err := c.create(sess, s, j); err != nil {
		return err
	}
	row, err := s.Experiment(j.Name)
	if err != nil {
		return err
	}
	return c.carryOut(sess, s, made, j, row.Changed)
}

func makeFolder(j *experiment.Journal) error {
	if err := os.MkdirAll(filepath.Join(j.Folder, "logs"), 0o755); err != nil {
		return usagef("--folder: %w", err)
	}
	return session.WriteBytes("--folder", fileOf(j), []byte(j.File))
}

// create makes the file of an experiment, then its row in the store.
func (c *experimentFlags) create(sess *session.Session, s *store.Store, j *experiment.Journal) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := makeFolder(j); err != nil {
		return err
	}
	err = s.CreateExperiment(store.Experiment{Name: j.Name, Status: string(j.Status), Started: j.Started, Body: sess.Secrets.HideJSON(body)})
	if errors.Is(err, store.ErrExperimentExists) { // since it was looked for
		err = exists(j.Name)
	}
	if err != nil {
		_ = os.Remove(fileOf(j)) // of no experiment
	}
	return err
}

func fileOf(j *experiment.Journal) string { return filepath.Join(j.Folder, "experiment.yaml") }

// newFolder is the folder for a new experiment, in which no other one is.
func (c *experimentFlags) newFolder(name string) (string, error) {
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
	return dir, nil
}

type experimentResumeCmd struct {
	Name string `arg:"" help:"Name of the experiment."`
	experimentFlags
}

func (c *experimentResumeCmd) Run(sess *session.Session) (err error) {
	defer func() { err = c.Settle(sess, err, otherErrors) }()
	if err := c.Check(); err != nil {
		return err
	}
	s, err := sess.OpenStore(c.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, _, err := c.loadForResume(s, c.Name); err != nil {
		return err
	}
	if err := c.endOrphans(sess, s, ""); err != nil {
		return err
	}
	j, changed, err := c.loadForResume(s, c.Name) // without the servers that were ended
	if err != nil {
		return err
	}
	e, doc, err := c.read(sess, j)
	if err != nil {
		return err
	}
	c.Asked = e.FailIf
	made, err := prepareExperiment(sess, e, explainedBy(doc))
	if err == nil {
		err = usage(session.DamagedJournal(j.Name, made.Fits(j)))
	}
	if err != nil {
		return err
	}
	if err := c.dropLostLegs(sess, s, j); err != nil {
		return err
	}
	end, err := c.join(sess, made)
	if err != nil {
		return err
	}
	defer end()
	if err := os.MkdirAll(filepath.Join(j.Folder, "logs"), 0o755); err != nil {
		return usagef("--folder: %w", err)
	}
	j.Owner = thisProcess()
	return c.carryOut(sess, s, made, j, changed)
}

func journalOf(s *store.Store, name string) (*experiment.Journal, error) {
	row, err := rowOf(s, name)
	if err != nil {
		return nil, err
	}
	return session.ReadJournal(row)
}

func rowOf(s *store.Store, name string) (store.Experiment, error) {
	row, err := s.Experiment(name)
	if errors.Is(err, store.ErrNoExperiment) {
		err = usagef("%s: no experiment has this name; `pitot experiment status` lists all", name)
	}
	return row, err
}

type experimentStatusCmd struct {
	Name string `arg:"" optional:"" help:"Name of the experiment. Default: all."`
	JSON bool   `name:"json" help:"Print the journal as JSON."`
	flags.StoreFlag
}

func (c *experimentStatusCmd) Run(sess *session.Session) error {
	return sess.With(c.Store, func(s *store.Store) error {
		rows, err := s.Experiments()
		if c.Name != "" {
			rows = make([]store.Experiment, 1)
			rows[0], err = rowOf(s, c.Name)
		}
		if err != nil {
			return err
		}
		all := []*experiment.Journal{}
		for _, row := range rows {
			j, err := session.ReadJournal(row)
			switch {
			case err == nil:
				all = append(all, comparing.At(time.Now(), row.Changed, j))
			case c.Name != "":
				return err
			default:
				fmt.Fprintln(sess.Stderr, "pitot:", err)
			}
		}
		if len(all) == 0 && len(rows) > 0 && !c.JSON {
			return nil
		}
		return c.show(sess, all)
	})
}

func (c *experimentStatusCmd) show(sess *session.Session, all []*experiment.Journal) error {
	lang := sess.Words()
	switch {
	case c.JSON:
		enc := json.NewEncoder(sess.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	case c.Name == "":
		return comparing.List(sess.Stdout, all, lang)
	}
	return errors.Join(comparing.Status(sess.Stdout, all[0], lang), comparing.PrintOrphans(sess, all[0]))
}

// compileLoad compiles a command line that makes one run.
func compileLoad(sess *session.Session, words []string) (experiment.VariantLoad, error) {
	c, err := planOf(sess, words)
	switch {
	case err != nil:
		return experiment.VariantLoad{}, err
	case c.fleet.HasFlag():
		return experiment.VariantLoad{}, errors.New("--fleet: all runs have one fleet; put the flag ahead of the load")
	}
	return experiment.VariantLoad{Compiled: c.Compiled}, nil
}

// parseDraft is the draft of a command line of bench or sim.
func parseDraft(sess *session.Session, words []string) (*pitot.Draft, error) {
	k, err := parseMeasuring(sess, words)
	if err != nil {
		return nil, err
	}
	d, ok := k.Selected().Target.Addr().Interface().(interface {
		draft(*session.Session, *kong.Context) *pitot.Draft
	})
	if !ok {
		return nil, usagef("`%s`: use bench or sim", strings.Join(words, " "))
	}
	return d.draft(sess, k), nil
}
