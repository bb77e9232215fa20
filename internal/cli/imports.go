package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// importCmd is `pitot import`.
type importCmd struct {
	Paths  []string `arg:"" optional:"" name:"path" help:"Files, folders of them, or - for standard input: notes and logs with result tables of vllm and sglang, with Markdown, HTML or CSV tables of figures, or consoles of other tools; result files of vllm, sglang, guidellm, aiperf, genai-perf and inference-perf."`
	DryRun bool     `short:"n" help:"Show the results without importing them."`
	flags.StoreFlag
}

// A tally counts the results that an import found.
type tally struct {
	added, known, problems int
	rows                   [][]string // shown of each
}

func (c importCmd) Run(sess *session.Session) error {
	if err := session.RequireArgs("path", "import", c.Paths); err != nil {
		return err
	}
	files, problems, err := session.Files(c.Paths)
	if err != nil {
		return err
	}
	var runs *store.Store
	if !c.DryRun {
		if runs, err = sess.OpenStore(c.Store); err != nil {
			return err
		}
		defer runs.Close()
	}
	var n tally
	var errs []error
	n.complain(sess, problems)
	for _, f := range files {
		problems, err := n.file(runs, f)
		n.complain(sess, problems)
		errs = append(errs, err)
	}
	err = errors.Join(append(errs, doc.Columns(sess.Stdout, n.rows))...)
	fmt.Fprintln(sess.Stdout, n.words(c.DryRun))
	if err == nil && n.added+n.known == 0 {
		return fmt.Errorf("nothing was imported: no table or result file of a tool that is known in %s", strings.Join(c.Paths, ", "))
	}
	return err
}

func (n *tally) file(runs *store.Store, f session.File) ([]result.Problem, error) {
	found, problems, file, err := f.Read()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if runs != nil {
		if err := f.AddNote(found); err != nil {
			return problems, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	var errs []error
	for _, one := range found {
		errs = append(errs, n.keep(runs, f, one))
	}
	return problems, errors.Join(errs...)
}

// keep stores a result, if there is a store, and adds a row for it.
func (n *tally) keep(runs *store.Store, f session.File, found result.Found) error {
	where := f.Path
	if o := found.Run.Origin; o != nil {
		where = report.Place(f.Path, o.Line)
	}
	known, err := false, error(nil)
	if runs != nil {
		known, err = storeNew(runs, found)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	word := "new"
	n.added++
	if known {
		word = "known"
		n.added, n.known = n.added-1, n.known+1
	}
	row := []string{found.Run.ID, word, contents(found.Run), found.Run.Name, where}
	if runs == nil && found.Naming != "" {
		row = append(row, "named by "+found.Naming)
	}
	n.rows = append(n.rows, row)
	return nil
}

// storeNew stores a result, unless it is known.
func storeNew(runs *store.Store, found result.Found) (known bool, err error) {
	sampled, err := found.Telemetry()
	if err != nil {
		return false, err
	}
	return runs.Import(found.Run, found.Records, sampled)
}

func (n tally) words(dry bool) string {
	text := fmt.Sprintf("%s: %d new, %d known", session.Plural(n.added+n.known, "result"), n.added, n.known)
	if dry {
		text = session.Plural(n.added, "result") + ", none kept"
	}
	if n.problems > 0 {
		text += "; " + session.Plural(n.problems, "problem")
	}
	return text
}

// complain reports problems on stderr, and counts them.
func (n *tally) complain(sess *session.Session, problems []result.Problem) {
	sess.ReportProblems(problems)
	for _, p := range problems {
		if !p.Choice {
			n.problems++
		}
	}
}

// contents says which tool made a run, and how detailed it is.
func contents(run trace.Run) string {
	if run.Origin == nil {
		return "pitot"
	}
	return run.Origin.Tool + " " + string(run.Origin.Detail)
}
