package inputs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Ledger notes the files that a run is prepared from, on the controller. Its zero value is ready. It is for one
// run, and safe for concurrent use.
type Ledger struct {
	mu      sync.Mutex
	noted   map[key]*noted
	roots   map[string]string // names of tokenizers by where they were found
	planned bool
	secrets []string // files of them
	most    int64    // bytes of an Input; 0: MaxSize

	giving  sync.Mutex // held while contents are sent
	inputs  []*noted   // as Inputs gave them
	offered map[string]bool
}

type noted struct {
	fleet.Input
	open func(ctx context.Context) (io.ReadCloser, error)
	// read: only run.Deps.Read gave it, which gives the files of secrets too.
	read    bool
	fetched bool // its digest is that of the bytes read
	changed bool // it was read twice, and differed
}

func (l *Ledger) limit() int64 { return cmp.Or(l.most, MaxSize) }

// note keeps an Input. Once is enough, but for the content of an address.
func (l *Ledger) note(n *noted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.noted == nil {
		l.noted = map[key]*noted{}
	}
	before := l.noted[keyOf(n.Input)]
	switch {
	case before == nil:
		l.noted[keyOf(n.Input)] = n
	case n.fetched:
		before.changed = before.changed || before.Digest != n.Digest
	default:
		before.read = before.read && n.read
	}
}

// found keeps where a tokenizer is.
func (l *Ledger) found(name, root string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.roots == nil {
		l.roots = map[string]string{}
	}
	l.roots[filepath.Clean(root)] = name
}

// inFolder is the Input that a file of a folder is: one of a tokenizer if it lies within its root.
func (l *Ledger) inFolder(folder, p string) fleet.Input {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := filepath.Join(folder, filepath.FromSlash(p))
	in := fleet.Input{Kind: fleet.FileInput, Name: folder, Path: p}
	for root, name := range l.roots {
		within, err := filepath.Rel(root, file)
		if err != nil || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) || len(root) < len(in.Root) {
			continue
		}
		in = fleet.Input{Kind: fleet.TokenizerInput, Name: name, Root: root, Path: filepath.ToSlash(within)}
	}
	return in
}

// Plan gives the Ledger the files that the Spec names as secret, which are no Inputs. Before it, no file that was
// read through run.Deps.Read is one.
func (l *Ledger) Plan(spec plan.Spec) {
	files, _ := Secrets(spec)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.planned, l.secrets = true, files
}

// Inputs are those noted so far, with their digests, in an order that depends on nothing else. A
// file is read again for that.
func (l *Ledger) Inputs(ctx context.Context) ([]fleet.Input, error) {
	all := l.public()
	if len(all) > MaxInputs {
		return nil, tooMany(len(all))
	}
	objects := map[string]string{}
	out := make([]fleet.Input, len(all))
	for i, n := range all {
		if n.changed {
			return nil, fmt.Errorf("%s gave two contents while the run was prepared: give it as a file", Title(n.Input))
		}
		if err := l.sum(ctx, n); err != nil {
			return nil, fmt.Errorf("%s: %w", Title(n.Input), err)
		}
		if objects[n.Digest] == "" {
			objects[n.Digest] = strconv.Itoa(len(objects))
		}
		n.Object = objects[n.Digest]
		out[i] = n.Input
	}
	if b, err := json.Marshal(out); err != nil || len(b) > maxOrder {
		return nil, cmp.Or(err, tooMany(len(all)))
	}
	l.giving.Lock()
	defer l.giving.Unlock()
	l.inputs, l.offered = all, map[string]bool{}
	return out, nil
}

func tooMany(n int) error {
	return fmt.Errorf("the run reads %d files, and a fleet can be given %d, fewer if their names are long: put what they hold into few files, such as one of Parquet or JSON Lines", n, MaxInputs)
}

// public are copies of the notes, without secret files.
func (l *Ledger) public() []*noted {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*noted
	for _, n := range l.noted {
		hidden := n.read && !l.planned || slices.Contains(l.secrets, n.Name) || slices.Contains(l.secrets, place(n.Input))
		if !hidden {
			one := *n
			out = append(out, &one)
		}
	}
	slices.SortFunc(out, func(a, b *noted) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// sum computes the digest of a noted file.
func (l *Ledger) sum(ctx context.Context, n *noted) error {
	if n.fetched {
		return nil
	}
	r, err := n.open(ctx)
	if err != nil {
		return fmt.Errorf("read it again: %w", err)
	}
	if err = regular(r); err == nil {
		n.Digest, n.Size, err = sum(ctx, r, l.limit())
	}
	return errors.Join(err, r.Close())
}

func opened(b []byte, err error) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), err
}
