package conform

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/conformity"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// reportCmd is `pitot conform report`.
type reportCmd struct {
	Out   []string `short:"o" placeholder:"FILE" help:"Write the table to FILE.md, all results to FILE.json, a plot to FILE.svg; may be repeated."`
	Files []string `arg:"" optional:"" placeholder:"FILE.json" help:"Results written by conform --out FILE.json."`
}

func (c reportCmd) Run(sess *session.Session) error {
	if err := errors.Join(session.RequireArgs("file", "conform report", c.Files), checkOutputs(c.Out)); err != nil {
		return err
	}
	var reports []conform.Report
	var errs []error
	for _, name := range c.Files {
		more, err := readFile(name)
		errs = append(errs, session.Usage(err))
		reports = append(reports, more...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return write(sess, c.Out, reports)
}

// writers are the forms of a result, by the ends of file names.
var writers = map[string]func(io.Writer, []conform.Report, *words.Language) error{
	".md":  conformity.Markdown,
	".svg": conformity.Plot,
	".json": func(w io.Writer, reports []conform.Report, _ *words.Language) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(reports)
	},
}

// checkOutputs refuses files of other forms, before anything is measured.
func checkOutputs(files []string) error {
	var errs []error
	for _, name := range files {
		if writers[filepath.Ext(name)] == nil {
			errs = append(errs, session.Usagef("--out %s: must end in .md, .json or .svg", name))
			continue
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			errs = append(errs, session.Usagef("--out %s: folder %s does not exist", name, filepath.Dir(name)))
		}
	}
	return errors.Join(errs...)
}

// write prints the table and writes the files.
func write(sess *session.Session, files []string, reports []conform.Report) error {
	errs := []error{conformity.Text(sess.Stdout, reports, sess.Words())}
	for _, name := range files {
		errs = append(errs, session.WriteFile("--out", name, func(w io.Writer) error { return writers[filepath.Ext(name)](w, reports, sess.Words()) }))
	}
	return errors.Join(errs...)
}

// Vars are words of the help.
func Vars() map[string]string {
	return map[string]string{"conform_formats": strings.Join(slices.Clone(conform.FormatNames()), ", ")}
}
