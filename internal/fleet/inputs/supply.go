package inputs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// SupplyOptions configure a Supply.
type SupplyOptions struct {
	Inputs []fleet.Input
	Deps   run.Deps // of this machine
	// Folder stores contents from controllers, by digest. It is made if missing, and used by nobody else.
	Folder string
	// Fetch opens an object, see Fetcher.
	Fetch func(ctx context.Context, object string) (io.ReadCloser, error)
	// Spec names the sources of secrets. Env and Files are their contents by variable and by
	// file, for a machine that does not have them.
	Spec       plan.Spec
	Env, Files map[string]string
}

// A Supply gives a run on a worker the files that the controller prepared it from.
type Supply struct {
	SupplyOptions
	all         []supplied
	at          map[key]int
	secretFiles []string
	secretVars  []string
	most, keep  int64 // bytes of an Input, and of the Folder
	err         error // in the Inputs
}

// The most that a Folder holds, in bytes, without contents that were used within the last hour.
const (
	keepSize   = 8 << 30
	keepRecent = time.Hour
)

// A supplied Input is one of a Supply, and where its content is.
type supplied struct {
	fleet.Input
	from origin
}

type origin int

const (
	nowhere   origin = iota
	here             // on this machine, under its name
	inFolder         // in the Folder
	different        // here, with another content
)

// NewSupply makes a Supply. Take returns the error of wrong Inputs.
func NewSupply(o SupplyOptions) *Supply {
	s := &Supply{SupplyOptions: o, at: map[key]int{}, most: MaxSize, keep: keepSize}
	s.secretFiles, s.secretVars = Secrets(o.Spec)
	for i, in := range o.Inputs {
		s.all = append(s.all, supplied{Input: in})
		if _, twice := s.at[keyOf(in)]; twice {
			s.err = cmp.Or(s.err, fmt.Errorf("%s is given twice", Title(in)))
		}
		s.at[keyOf(in)] = i
		s.err = cmp.Or(s.err, check(in, s.most))
	}
	return s
}

// Check looks for all Inputs on this machine and returns the positions of those that are not here, and which are
// here with another content. It opens the files that a run with these names would open, through the same Deps, and
// no device or pipe.
func (s *Supply) Check(ctx context.Context) (needs, differs []int) {
	if s.err != nil {
		return nil, nil
	}
	for i := range s.all {
		switch one := &s.all[i]; s.find(ctx, one) {
		case nowhere:
			needs = append(needs, i)
		case different:
			differs = append(differs, i)
		}
	}
	return needs, differs
}

// find finds an Input. An address is asked only if its content is not in the Folder.
func (s *Supply) find(ctx context.Context, one *supplied) origin {
	remote := one.Kind == fleet.FetchedInput && !strings.HasPrefix(one.Name, "file://")
	switch {
	case remote && s.isStored(ctx, one.Input):
		one.from = inFolder
	case remote:
		one.from = nowhere
		if s.save(one.Input, func(w io.Writer) error { return s.copyHere(ctx, one, w) }) == nil {
			one.from = inFolder
		}
	default:
		one.from = s.compare(ctx, one.Input)
		other := one.from == different && isList(one.Input) // it is the controller's that counts
		if (other || one.from == nowhere) && s.isStored(ctx, one.Input) {
			one.from = inFolder
		} else if other {
			one.from = nowhere
		}
	}
	return one.from
}

// compare looks for an Input by name on this machine: here, different or nowhere. A file of another size is not
// read, nor an empty one: those of /proc have no size, and may have no end.
func (s *Supply) compare(ctx context.Context, in fleet.Input) origin {
	r, err := s.openHere(ctx, in)
	if err != nil {
		return nowhere
	}
	defer func() { _ = r.Close() }() // only read
	if file, ok := r.(fs.File); ok {
		switch info, err := file.Stat(); {
		case err != nil:
			return nowhere
		case info.Size() != in.Size:
			return different
		case in.Size == 0:
			return nowhere
		}
	}
	switch digest, size, err := sum(ctx, r, in.Size); {
	case size > in.Size:
		return different
	case err != nil:
		return nowhere
	case digest != in.Digest:
		return different
	}
	return here
}

// copyHere writes the content of an address, if it is the controller's.
func (s *Supply) copyHere(ctx context.Context, one *supplied, w io.Writer) error {
	r, err := s.openHere(ctx, one.Input)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	h := sha256.New()
	if _, err = io.Copy(io.MultiWriter(w, h), io.LimitReader(bounded{ctx, r}, one.Size+1)); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != one.Digest {
		return errors.New("another content")
	}
	return nil
}

// FetchAll gets what Check found missing from the object store, each Input as soon as the controller has put it
// there, until ctx ends. Then Deps has everything.
func (s *Supply) FetchAll(ctx context.Context) error {
	if s.err != nil {
		return fmt.Errorf("the controller's files: %w", s.err)
	}
	for i := range s.all {
		one := &s.all[i]
		if one.from != nowhere {
			continue
		}
		if !s.isStored(ctx, one.Input) { // it may have come with another name
			if err := s.save(one.Input, func(w io.Writer) error { return s.fetch(ctx, one.Input, w) }); err != nil {
				return fmt.Errorf("get %s from the controller: %w", Title(one.Input), inLine(err))
			}
		}
		one.from = inFolder
	}
	if !s.uses(inFolder) {
		return nil
	}
	return files.Prune(s.Folder, s.keep, time.Now().Add(-keepRecent))
}

func (s *Supply) uses(from origin) bool {
	for i := range s.all {
		if s.all[i].from == from {
			return true
		}
	}
	return false
}

// fetch writes the content of an Input from the object store, and checks it.
func (s *Supply) fetch(ctx context.Context, in fleet.Input, w io.Writer) error {
	h, left := sha256.New(), in.Size
	for i := range parts(in.Size) {
		r, err := s.Fetch(ctx, part(in.Object, i))
		if err != nil {
			return err
		}
		n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(bounded{ctx, r}, min(left, partSize)+1))
		left -= n
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		if left < 0 || n < partSize && left > 0 {
			return fmt.Errorf("what came has not the %d bytes that it should", in.Size)
		}
	}
	if digest := hex.EncodeToString(h.Sum(nil)); digest != in.Digest {
		return fmt.Errorf("what came is damaged: sha256 %s, want %s", short(digest), short(in.Digest))
	}
	return nil
}

// file is where the content of an Input is stored.
func (s *Supply) file(in fleet.Input) string { return filepath.Join(s.Folder, in.Digest) }

// save keeps a content that write writes. One that fails leaves nothing.
func (s *Supply) save(in fleet.Input, write func(io.Writer) error) error {
	if err := files.MakeFolder(s.Folder); err != nil {
		return err
	}
	return files.Write(s.file(in), write)
}

// isStored reports whether the content is in the Folder, undamaged.
func (s *Supply) isStored(ctx context.Context, in fleet.Input) bool {
	file, err := files.Open(s.file(in))
	if err != nil {
		return false
	}
	digest, _, err := sum(ctx, file, in.Size)
	_ = file.Close()                       // only read
	if err != nil || digest != in.Digest { // the next write replaces it
		return false
	}
	_ = files.Touch(s.file(in)) // one that cannot be is only removed sooner
	return true
}
