package comparing

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
)

// NameTables names tables of notes by hand, in place of the headings and labels above them. variants and loads are
// NAME=LINE, where a table begins, or NAME=FILE:LINE among several files.
func NameTables(picks []session.Pick, variants, loads []string) error {
	if err := nameTables(picks, "--variant", variants, func(o *trace.Origin, name string) { o.Path = []string{name} }); err != nil {
		return err
	}
	return nameTables(picks, "--load", loads, func(o *trace.Origin, name string) { o.Load = name })
}

func nameTables(picks []session.Pick, flag string, names []string, set func(o *trace.Origin, name string)) error {
	for _, text := range names {
		i := strings.LastIndexByte(text, '=')
		if i <= 0 || strings.TrimSpace(text[:i]) == "" {
			return session.Usagef("%s %s: must be NAME=LINE, such as before=3", flag, text)
		}
		name, place := strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		o, err := tableAt(picks, place)
		if err != nil {
			return session.Usagef("%s %s: %w", flag, text, err)
		}
		set(o, name)
	}
	return nil
}

func tableAt(picks []session.Pick, place string) (*trace.Origin, error) {
	file, text, several := "", place, false
	if i := strings.LastIndexByte(place, ':'); i >= 0 {
		file, text = place[:i], place[i+1:]
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%q is no number of a line", text)
	}
	var found *trace.Origin
	var begins []string
	for _, p := range picks {
		o := p.Run.Origin
		if o == nil || o.Line == 0 || file != "" && o.File != file {
			continue
		}
		begins = append(begins, strconv.Itoa(o.Line))
		if o.Line == n {
			several = several || found != nil
			found = o
		}
	}
	switch {
	case several:
		return nil, fmt.Errorf("several results begin in line %d: of several files write FILE:%d; a table's own columns and rows name theirs", n, n)
	case found != nil:
		return found, nil
	case begins == nil:
		return nil, errors.New("no table of a note is compared")
	}
	return nil, fmt.Errorf("no table begins in line %d; they begin in %s", n, strings.Join(begins[:min(len(begins), 12)], ", "))
}
