package probe

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Local is this machine. With Quick it starts no process: an Ask of the kind Run has no
// answer.
type Local struct{ Quick bool }

// Ask reads one after the other until ctx ends.
func (l Local) Ask(ctx context.Context, root string, asks []Ask) (all Answers, _ error) {
	r := reader{ctx, newTree(root)}
	defer r.tree.close()
	for _, a := range asks {
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		if a.Kind == Run {
			if !l.Quick {
				all = append(all, run(ctx, a)...)
			}
			continue
		}
		all = append(all, r.read(a)...)
	}
	return all, nil
}

// run starts a program that is installed.
func run(ctx context.Context, a Ask) Answers {
	if _, err := exec.LookPath(a.Args[0]); err != nil {
		return nil
	}
	if end, bounded := ctx.Deadline(); bounded { // one that hangs leaves time for the others
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, time.Until(end)/2)
		defer done()
	}
	out, err := proc.Ask(ctx, proc.Question{Args: a.Args, Limit: a.limit(), Tied: true})
	if err != nil && out == "" {
		return nil
	}
	return Answers{{Name: a.Name, Text: out}}
}

type reader struct {
	ctx  context.Context
	tree tree
}

func (r reader) read(a Ask) (all Answers) {
	var together strings.Builder // of kinds with one answer for all files
	for _, file := range r.glob(a) {
		if r.ctx.Err() != nil {
			break
		}
		switch a.Kind {
		case Text, Hash:
			if text, ok := r.content(file, a); ok {
				all = append(all, Answer{a.Name, file, text})
			}
		case Link:
			if to, err := r.tree.link(file); err == nil {
				all = append(all, Answer{a.Name, file, to + "\n"})
			}
		case Lines:
			r.lines(&together, file, a)
		case Size:
			if f, size, err := r.regular(file); err == nil {
				f.Close()
				fmt.Fprintf(&together, "%d %s\n", size, file)
			}
		}
		if together.Len() > a.limit() {
			break
		}
	}
	if together.Len() > 0 {
		text := together.String()
		all = append(all, Answer{Name: a.Name, Text: text[:min(len(text), a.limit())]})
	}
	return all
}

// regular opens a file that is none of pipe, device or folder.
func (r reader) regular(file string) (*os.File, int64, error) {
	f, err := r.tree.open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: no regular file", file)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// content is the beginning of a file, or its hash.
func (r reader) content(file string, a Ask) (string, bool) {
	f, size, err := r.regular(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if a.Kind == Hash {
		sum := sha256.New()
		n, err := io.Copy(sum, io.LimitReader(f, largestHashed+1))
		return hex.EncodeToString(sum.Sum(nil)), err == nil && size <= largestHashed && n <= largestHashed
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(a.limit())))
	return string(b), err == nil || len(b) > 0
}

// scanned is how much of a file is searched for lines.
const scanned = 4 << 20

func (r reader) lines(to *strings.Builder, file string, a Ask) {
	f, _, err := r.regular(file)
	if err != nil {
		return
	}
	defer f.Close()
	wanted, err := regexp.Compile(a.Match)
	if err != nil {
		panic(fmt.Sprintf("probe: %s: %v", a.Name, err)) // it is written in the program
	}
	text := bufio.NewReaderSize(io.LimitReader(f, scanned), 64<<10)
	cut := false // a line that is longer than the buffer is none of ours
	for found := 0; found < a.most() && to.Len() <= a.limit() && r.ctx.Err() == nil; {
		line, more, err := text.ReadLine()
		if err != nil {
			return
		}
		if !cut && !more && wanted.Match(line) {
			fmt.Fprintf(to, "%s:%s\n", file, line)
			found++
		}
		cut = more
	}
}

// glob are the files of an Ask, in order.
func (r reader) glob(a Ask) []string {
	found := []string{path.Clean(a.Dir)}
	for part := range strings.SplitSeq(a.Glob, "/") {
		var next []string
		for _, dir := range found {
			if !strings.ContainsAny(part, "*?[") {
				next = append(next, path.Join(dir, part))
				continue
			}
			for _, name := range r.names(dir) {
				if ok, err := path.Match(part, name); ok && err == nil {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		found = next[:min(len(next), mostFiles)]
	}
	return found
}

// names are those in a folder, in order; hidden ones are left out, as by a shell.
func (r reader) names(dir string) []string {
	f, err := r.tree.open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(4 * mostFiles) // those that were read
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names
}
