package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/show/conformity"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// conformReportCmd is `pitot conform report`.
type conformReportCmd struct {
	Out   []string `short:"o" placeholder:"FILE" help:"Write the table to FILE.md, all results to FILE.json, a plot to FILE.svg; may be repeated."`
	Files []string `arg:"" optional:"" placeholder:"FILE.json" help:"Results written by conform --out FILE.json."`
}

// Run puts the results beside each other.
func (c conformReportCmd) Run(p *Process) error {
	if err := errors.Join(some("file", "conform report", c.Files), checkOutputs(c.Out)); err != nil {
		return err
	}
	var reports []conform.Report
	var errs []error
	for _, name := range c.Files {
		data, err := files.ReadSmall(name)
		if err != nil {
			errs = append(errs, usage(err))
			continue
		}
		more, err := conform.ReadReports(data)
		if err != nil {
			errs = append(errs, usagef("%s: %w", name, err))
		}
		reports = append(reports, more...)
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	return p.writeConformity(c.Out, reports)
}

// conformWriters are the forms of a result, by the ends of file names.
var conformWriters = map[string]func(io.Writer, []conform.Report, *words.Language) error{
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
		if conformWriters[filepath.Ext(name)] == nil {
			errs = append(errs, usagef("--out %s: must end in .md, .json or .svg", name))
			continue
		}
		if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
			errs = append(errs, usagef("--out %s: folder %s does not exist", name, filepath.Dir(name)))
		}
	}
	return errors.Join(errs...)
}

// writeConformity prints the table and writes the files.
func (p *Process) writeConformity(files []string, reports []conform.Report) error {
	errs := []error{conformity.Text(p.Stdout, reports, english)}
	for _, name := range files {
		errs = append(errs, writeFile("--out", name, func(w io.Writer) error { return conformWriters[filepath.Ext(name)](w, reports, english) }))
	}
	return errors.Join(errs...)
}

// writeFile makes a file, which a flag names, of what write writes.
func writeFile(flag, name string, write func(io.Writer) error) error {
	if err := files.Write(name, write); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// conformVars are words of the help.
func conformVars() map[string]string {
	return map[string]string{"conform_formats": strings.Join(slices.Clone(conform.FormatNames()), ", ")}
}
