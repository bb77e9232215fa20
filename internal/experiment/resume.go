package experiment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
)

const (
	legKilled  plan.Code = "experiment.leg-killed"
	runRemoved plan.Code = "experiment.run-removed"
)

// ReadJournal reads a journal that was stored. A journal that no experiment could have written is an error:
// somebody has edited it.
func ReadJournal(stored []byte) (*Journal, error) {
	j := new(Journal)
	err := json.Unmarshal(stored, j)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = plan.Problem{Path: wrong.Field, Why: "must not be of type " + wrong.Value}
	}
	if err != nil {
		return nil, err
	}
	if p := j.check(); len(p) > 0 {
		return nil, p[:1] // later problems mean little
	}
	return j, nil
}

// The bounds of a journal, well beyond those of any design.
const (
	mostBlocks = 1_000
	mostSlots  = 1_000
)

func (j *Journal) check() (p plan.Problems) {
	p = append(p, j.Status.check("status")...)
	p.If(j.Owner.PID <= 0, "owner.pid", j.Owner.PID, "must be positive")
	p.If(!filepath.IsAbs(j.Folder), "folder", nil, "is no absolute path")
	p.IntegerIn("looks.most", j.Looks.Most, 0, mostBlocks)
	p.IntegerIn("looks.done", j.Looks.Done, 0, mostBlocks)
	p.If(j.Spent < 0, "spent", j.Spent, "must not be negative")
	for i, l := range j.Legs {
		p = append(p, l.check(i).Below(plan.Item("legs", i))...)
	}
	return p
}

// check checks a leg, the one with an index.
func (l *Leg) check(i int) (p plan.Problems) {
	if l == nil {
		p.If(true, "", nil, "is empty")
		return p
	}
	p.If(l.Variant == "", "variant", nil, "is missing")
	p = append(p, l.Status.check("status")...)
	p.IntegerIn("block", l.Block, 1, mostBlocks)
	p.IntegerIn("slot", l.Slot, 1, mostSlots)
	p.IntegerIn("ordinal", l.Ordinal, 1, mostSlots)
	p.IntegerIn("draw", l.Draw, 0, mostSlots)
	p.If(l.Position != i+1, "position", l.Position, "must be %d", i+1)
	p.IntegerIn("server_start", l.ServerStart, 0, i+1)
	p.If(l.Took < 0 || l.Ready < 0, "took", l.Took, "must not be negative")
	for k, made := range l.Runs {
		p.If(made.ID == "", plan.Item("runs", k)+".id", nil, "is missing")
		p.If(made.Simulated < 0, plan.Item("runs", k)+".simulated", made.Simulated, "must not be negative")
	}
	return p
}

func (s Status) check(path string) (p plan.Problems) {
	p.If(s == "", path, nil, "is missing")
	p.OneOf(path, string(s), string(Running), string(Done), string(Failed), string(Interrupted))
	return p
}

// Abandon marks a journal after its process has died: nothing runs any more, except maybe servers.
func (j *Journal) Abandon() {
	if j.Status == Running {
		j.Status = Interrupted
	}
	for _, l := range j.With(Running) {
		l.Status, l.Why = Interrupted, plan.Msg(legKilled)
	}
}

// Without gives up the legs of which a run is not there any more, so that they are made again,
// and returns them.
func (j *Journal) Without(there func(run string) (bool, error)) (gone []*Leg, err error) {
	for _, l := range j.With(Done) {
		for _, made := range l.Runs {
			ok, err := there(made.ID)
			if err != nil {
				return gone, err
			}
			if !ok && l.Status == Done {
				l.Status, l.Why = Interrupted, plan.Msg(runRemoved, "run", made.ID)
				gone = append(gone, l)
			}
		}
	}
	return gone, nil
}

// Fits checks that the legs of a journal are some of a plan's.
func (p *CheckedExperiment) Fits(j *Journal) error {
	for _, l := range j.Legs {
		if l.Confirms {
			continue
		}
		order := design.Order(len(p.Variants), p.Design, l.Block)
		if l.Slot > len(order) || p.Variants[order[l.Slot-1]].Name != l.Variant {
			return fmt.Errorf("leg %d of the journal is one of %s in block %d, which has no such leg by its file: one of the two was edited", l.Position, l.Variant, l.Block)
		}
	}
	return nil
}

// Write makes the file of an experiment as it is stored, without secrets. The journal says whether there were any.
func (j *Journal) Write(e *design.Experiment, secrets *secret.Set) error {
	whole, err := e.YAML()
	if err != nil {
		return err
	}
	cleaned, err := secret.Clean(secrets, e).YAML()
	if err != nil {
		return err
	}
	j.File, j.Withheld = string(cleaned), !bytes.Equal(whole, cleaned)
	return nil
}

// A WithheldError says that a file lacks the secrets of its experiment.
type WithheldError struct{ File string }

func (e *WithheldError) Error() string {
	return fmt.Sprintf("its file has secrets, which are not kept: put them into %s, each in place of its %s, and resume again", e.File, secret.Mark)
}

// Read reads the file of an experiment that goes on. It is the stored one; if that lacks secrets it is given, the
// one in its folder, which has them again. nil stands for no such file.
func (j *Journal) Read(file string, given []byte) (*design.Experiment, *plan.Document, error) {
	stored, doc, err := design.Read(file, []byte(j.File))
	if err != nil || !j.Withheld {
		return stored, doc, err
	}
	if given == nil || strings.TrimSpace(string(given)) == strings.TrimSpace(j.File) {
		return nil, nil, &WithheldError{file}
	}
	e, doc, err := design.Read(file, given)
	if err != nil {
		return nil, nil, err
	}
	if at := differs("", tree(stored), tree(e)); at != "" {
		return nil, nil, fmt.Errorf("%s: %s differs from what the experiment began with: only secrets may be put in, each in place of its %s", file, at, secret.Mark)
	}
	if whole, err := e.YAML(); err != nil || bytes.Contains(whole, []byte(secret.Mark)) {
		return nil, nil, cmp.Or[error](err, &WithheldError{file})
	}
	return e, doc, nil
}

func tree(e *design.Experiment) (v any) {
	b, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		return err // two of them differ
	}
	return v
}

// differs is the path of the first difference from the stored tree, in which secret.Mark stands for anything; empty
// if there is none.
func differs(path string, stored, given any) string {
	switch stored := stored.(type) {
	case map[string]any:
		given, ok := given.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(stored)), slices.Sorted(maps.Keys(given))) {
			return path
		}
		for _, name := range slices.Sorted(maps.Keys(stored)) {
			if at := differs(plan.Join(path, name), stored[name], given[name]); at != "" {
				return at
			}
		}
	case []any:
		given, ok := given.([]any)
		if !ok || len(given) != len(stored) {
			return path
		}
		for i := range stored {
			if at := differs(plan.Item(path, i), stored[i], given[i]); at != "" {
				return at
			}
		}
	case string:
		if text, ok := given.(string); !ok || !equalsMasked(stored, text) {
			return path
		}
	default:
		if stored != given {
			return path
		}
	}
	return ""
}

// equalsMasked reports whether a text is another one with secrets hidden.
func equalsMasked(masked, text string) bool {
	if !strings.Contains(masked, secret.Mark) {
		return masked == text
	}
	parts := strings.Split(masked, secret.Mark)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(parts, `.+`) + `)$`).MatchString(text)
}

// AddSecrets makes the secrets in the settings of an experiment known.
func AddSecrets(secrets *secret.Set, e *design.Experiment) {
	ofServer := func(s design.ServerSetup) {
		secrets.Add(server.Secrets(s)...)
		secrets.AddJSON(s.Engine)
	}
	ofVariant := func(s design.ServerSetup, flags string, settings json.RawMessage) {
		ofServer(s)
		secrets.Add(inCommand(flags)...)
		secrets.AddJSON(settings)
	}
	ofServer(e.Server)
	for _, v := range e.Variants {
		ofVariant(v.Server, v.Flags, v.Settings)
	}
	if m := e.Matrix; m != nil {
		ofVariant(m.Server, m.Flags, m.Settings)
	}
	for _, w := range e.Workloads {
		secrets.Add(inCommand(w.Command)...)
		secrets.AddJSON(w.Spec)
	}
}

// inCommand are the secrets of a command line of a workload.
func inCommand(line string) []string {
	words, err := shell.Split(line)
	if err != nil { // reported elsewhere, with the line
		words = server.Words(line)
	}
	return secret.InArgs(words)
}
