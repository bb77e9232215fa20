package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
)

// tagsCmd is `pitot runs tag`.
type tagsCmd struct {
	Which  string   `arg:"" name:"run" help:"Id, prefix of an id, name, last, or a pattern such as 'nightly*', which takes all runs that match."`
	Add    []string `arg:"" optional:"" name:"tags" sep:"none" placeholder:"+TAG -TAG" help:"Tags to add, each with + before it, and to remove, with -."`
	Remove []string `name:"remove" sep:"none" dash:"" placeholder:"TAG" help:"Tag to remove, the same as -TAG; may be repeated."`
	Remark *string  `placeholder:"TEXT" help:"Remark on the run, in place of the one that it has; empty removes it."`
	flags.StoreFlag
}

func (tagsCmd) Help() string {
	return "Prints the tags and the remark that the run then has. Measured figures do not depend on them."
}

func (c tagsCmd) Run(sess *session.Session) error {
	add, remove, err := c.wanted()
	if err != nil {
		return err
	}
	open := sess.OpenRuns
	changes := len(add)+len(remove) > 0 || c.Remark != nil
	if changes {
		open = sess.OpenStore
	}
	runs, err := open(c.Store)
	if err != nil {
		return err
	}
	defer runs.Close()
	list, err := c.found(runs)
	for i := 0; i < len(list) && err == nil; i++ {
		l := list[i]
		if changes {
			l.Labels, err = runs.Label(l.ID, func(now *trace.Labels) error {
				now.Tags = slices.DeleteFunc(append(now.Tags, secret.Clean(sess.Secrets, add)...), func(tag string) bool {
					return slices.Contains(remove, tag)
				})
				if c.Remark != nil {
					now.Remark = sess.Secrets.Hide(*c.Remark)
				}
				return nil
			})
		}
		if err == nil {
			err = show(sess.Stdout, l)
		}
	}
	return err
}

// wanted are the tags to add and to remove, and the mistakes of the command line.
func (c tagsCmd) wanted() (add, remove []string, err error) {
	clean := func(given, tag string) string {
		tag, wrong := trace.CleanTag(tag)
		if wrong != nil {
			err = errors.Join(err, session.Usagef("%s: %w", given, wrong))
		}
		return tag
	}
	for _, word := range c.Add {
		tag, ok := strings.CutPrefix(word, "+")
		if !ok {
			err = errors.Join(err, session.Usagef("%q: a tag has + before it to be added, or - to be removed", word))
			continue
		}
		add = append(add, clean(word, tag))
	}
	for _, word := range c.Remove {
		remove = append(remove, clean("-"+word, word))
	}
	if c.Remark != nil {
		if _, wrong := trace.CleanRemark(*c.Remark); wrong != nil {
			err = errors.Join(err, session.Usagef("--remark: %w", wrong))
		}
	}
	if i := slices.IndexFunc(add, func(tag string) bool { return slices.Contains(remove, tag) }); err == nil && i >= 0 {
		err = session.Usagef("tag %q: is to be added and removed", add[i])
	}
	return add, remove, err
}

func (c tagsCmd) found(runs *store.Store) ([]store.Listing, error) {
	if !strings.ContainsAny(c.Which, "*?") {
		one, err := runs.Find(c.Which)
		if errors.Is(err, store.ErrNoRun) {
			err = session.Usage(err)
		}
		return []store.Listing{one}, err
	}
	list, err := runs.List(store.Filter{Match: c.Which})
	if err == nil && len(list) == 0 {
		err = session.Usagef("%s: no stored run has this name or id; see `pitot runs list`", c.Which)
	}
	return list, err
}

// show prints the labels of a run.
func show(w io.Writer, l store.Listing) error {
	_, err := fmt.Fprintf(w, "run %s: tags: %s; remark: %s\n", l.ID, cmp.Or(strings.Join(l.Tags, ", "), "none"), cmp.Or(strings.ReplaceAll(l.Remark, "\n", " "), "none"))
	return err
}
