package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// checkReports holds the flags of reports against each other.
func checkReports(o *flags.Results) error {
	var own []string // the reports that have forms
	for _, name := range o.Report {
		switch {
		case toolNamed(name).Forms != nil:
			own = append(own, name)
		case name != "pitot" && name != "json":
			return usagef("--report (or --dialect) %q: must be pitot, vllm, sglang, json, or several of them: pitot,vllm", name)
		}
	}
	switch {
	case o.Repeat < 1 || o.Repeat > mostRepeats:
		return usagef("--repeat %d: must be from 1 to %d", o.Repeat, mostRepeats)
	case o.SameSeed && o.Repeat == 1:
		return usagef("--same-seed: only applies to --repeat")
	case o.Form != "" && len(own) != 1:
		return usagef("--dialect-version %s: only applies to one report, --report vllm or --report sglang", o.Form)
	case o.Form != "":
		return checkForm(own[0], o.Form)
	}
	return nil
}

// checkForm wants a form of a tool's report, or none.
func checkForm(name, form string) error {
	forms := toolNamed(name).Forms
	switch {
	case form == "" || slices.Contains(forms, form):
		return nil
	case forms == nil:
		return usagef("--dialect-version %s: only applies to --dialect vllm or sglang", form)
	}
	return usagef("--dialect-version %s: must be one of those of %s: %s", form, name, strings.Join(forms, ", "))
}

// printReports writes the reports that were asked for, one after the other; s is t
// in figures, form that of another tool's, and all the whole of Pitot's.
func printReports(sess *session.Session, t *trace.Trace, s metrics.Summary, names []string, form string, all bool) error {
	var errs []error
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(sess.Stdout)
		}
		errs = append(errs, printReport(sess, t, s, name, form, all))
	}
	return errors.Join(errs...)
}

// printReport writes one report: pitot, that of another tool, or json, the figures of pitot's. Remarks on another
// tool's report go to stderr, so that stdout is that tool's alone.
func printReport(sess *session.Session, t *trace.Trace, s metrics.Summary, name, form string, all bool) error {
	switch {
	case name == "pitot" && all:
		return report.Text(sess.Stdout, s, sess.Words())
	case name == "pitot":
		return report.Brief(sess.Stdout, s, sess.Words())
	case name == "json":
		enc := json.NewEncoder(sess.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	if t.Run.Kind == trace.Simulated { // their tables have no place for it
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("report.run-simulated", "run", t.Run.ID))
	}
	r, err := toolNamed(name).Report(t, form)
	if err != nil {
		return err
	}
	err = r.WriteTable(sess.Stdout)
	for _, n := range slices.Concat(t.Run.Notes, r.Notes()) {
		fmt.Fprintln(sess.Stderr, sess.Word("report.note", "note", n))
	}
	return err
}

// printHealth says on stderr, even if quiet, that figures are not to be trusted; Pitot's report has it in its head.
func printHealth(sess *session.Session, h metrics.Health) {
	e := metrics.Explain(h.Verdict)
	switch h.Verdict.Validity {
	case trace.Invalid:
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("report.run-invalid", "causes", e.Causes))
	case trace.Doubtful:
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("report.run-doubtful", "causes", e.Causes))
	default:
		return
	}
	if len(e.Remedies) > 0 {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("report.remedy", "remedies", e.Remedies))
	}
	if len(e.Effects) > 0 {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("report.effects", "effects", e.Effects))
	}
}

// checkValid is the error for a run that is not valid where --require-valid asked for
// one that is.
func checkValid(asked bool, h metrics.Health) error {
	if !asked || h.Verdict.Validity == trace.Valid {
		return nil
	}
	return session.NotValidError{Validity: h.Verdict.Validity}
}

// Names that commands of this package use often.
var (
	errInterrupted = session.ErrInterrupted
	usage          = session.Usage
	usagef         = session.Usagef
	inWords        = session.InWords
	toolNamed      = known.Named
	rules          = known.Rules
)

// english is the language for programs.
func english() *words.Language { return words.In(words.Default) }
