package comparing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// PrintOutcome writes the comparison with its confirmation, how the experiment ended, and its cost: of the comparison
// the last screen, or all.
func PrintOutcome(sess *session.Session, j *experiment.Journal, out *experiment.Outcome, same, all bool) error {
	lang := sess.Words()
	whole, write := out.Whole(), comparison.Brief
	o := comparison.Options{Lang: lang}
	if same {
		o.Advice = Worthwhile(j, whole, lang)
	}
	if sess.Columns != nil {
		o.Width, o.Color = sess.Columns(), sess.Colors()
	}
	if all {
		write = comparison.Text
	}
	err := write(sess.Stdout, whole, o)
	fmt.Fprintln(sess.Stdout)
	return errors.Join(err, Ending(sess.Stdout, j, lang, all))
}

// Orphans are the legs of an experiment with servers that were started on this machine, and not seen to end.
func Orphans(j *experiment.Journal) (legs []*experiment.Leg) {
	for _, l := range j.Legs {
		if l.Handle != nil && l.Handle.Machine == proc.Host() {
			legs = append(legs, l)
		}
	}
	return legs
}

// PrintOrphans says which servers an experiment that is not under way has left running.
func PrintOrphans(sess *session.Session, j *experiment.Journal) error {
	if j.Status == experiment.Running {
		return nil
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	for _, l := range Orphans(j) {
		there, what, err := server.Leftover(ctx, *l.Handle, server.Options{Secrets: sess.Secrets, Dial: sess.Dial})
		if err != nil {
			return err
		}
		if there {
			fmt.Fprintln(sess.Stdout, sess.Word("experiment.left-running", "what", what, "command", "pitot experiment resume "+shell.Quote(j.Name)+" --yes"))
		}
	}
	return nil
}

// LogFile is the file for the output of a server.
func LogFile(j *experiment.Journal, l *experiment.Leg) string {
	try := ""
	if l.Attempt > 1 {
		try = fmt.Sprintf("-try-%d", l.Attempt)
	}
	return filepath.Join(j.Folder, "logs", fmt.Sprintf("leg-%03d%s-%s.log", j.Number(l), try, fileName(l.Variant)))
}

func fileName(text string) string {
	out := []rune(text)
	for i, r := range out {
		if r < '-' || r > 'z' || r == '/' || r == '\\' || r == ':' {
			out[i] = '-'
		}
	}
	return cmp.Or(string(out[:min(len(out), 60)]), "-")
}
