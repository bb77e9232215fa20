package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/tool/ingest"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A File is a file to read results from.
type File struct {
	Path string
	name string // below the folder that was named, or of the file alone; with slashes
	met  bool   // in a folder, not named itself
	text []byte // of standard input, in place of a path; nil of files
}

// mostPasted is how many bytes of standard input are read.
const mostPasted = 64 << 20

// pasted reads a pasted text, up to its end.
func pasted(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, mostPasted+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read standard input: %w", err)
	case len(text) > mostPasted:
		return nil, Usagef("standard input has more than %d MiB; save it to a file, and name that", mostPasted>>20)
	case len(text) == 0:
		return nil, Usagef("standard input is empty: paste a table, and end it with Ctrl-D, or name a file")
	}
	return text, nil
}

// Files are the files that args name; a folder stands for the results in it. Other files of a folder that might be
// meant as results are in the problems.
func Files(args []string) (files []File, problems []result.Problem, err error) {
	var errs []error
	for _, arg := range args {
		if arg == Pasted {
			if machine.TerminalWidth(os.Stdin) != nil {
				fmt.Fprintln(os.Stderr, "pitot: paste a table, and end it with Ctrl-D")
			}
			text, err := pasted(os.Stdin)
			files, errs = append(files, File{Path: "standard input", name: "pasted", text: text}), append(errs, err)
			continue
		}
		info, err := os.Stat(arg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			errs = append(errs, Usagef("%s: no such file or folder", arg))
		case err != nil:
			errs = append(errs, Usage(err))
		case info.IsDir():
			below, skipped, err := folder(arg)
			files, problems = append(files, below...), append(problems, skipped...)
			errs = append(errs, err)
		case !info.Mode().IsRegular():
			errs = append(errs, Usagef("%s: is not a regular file; save it to one first", arg))
		default:
			files = append(files, File{Path: arg, name: filepath.Base(arg)})
		}
	}
	return files, problems, errors.Join(errs...)
}

func folder(root string) (files []File, skipped []result.Problem, err error) {
	var names []string
	var unread []result.Problem
	top := root + string(filepath.Separator) // a link to a folder is the folder
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path != top:
			unread = append(unread, result.Problem{File: path, Reason: err.Error()})
			return nil
		case err != nil || !leadsToFile(path, d):
			return err
		}
		below, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(below))
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read folder %s: %w", root, err)
	}
	read, skipped := known.Reader().Files(names)
	for _, name := range read {
		files = append(files, File{filepath.Join(root, filepath.FromSlash(name)), name, true, nil})
	}
	for i := range skipped {
		skipped[i].File = filepath.Join(root, filepath.FromSlash(skipped[i].File))
	}
	return files, append(unread, skipped...), nil
}

// leadsToFile reports whether there is a file, or a link to one. Links to folders are not
// followed: they may lead in a circle.
func leadsToFile(path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Read returns the results in the file. Results with records read them from the file, until it is closed. Problems
// name its path; that it holds nothing is none of a file that was only met in a folder.
func (f File) Read() (found []result.Found, problems []result.Problem, file io.Closer, err error) {
	source, file, err := f.source()
	if err != nil {
		return nil, nil, nil, err
	}
	found, problems = known.Reader().Read(source)
	problems = slices.DeleteFunc(problems, func(p result.Problem) bool { return f.met && p.Nothing })
	for i := range problems {
		problems[i].File = f.Path
	}
	return found, problems, file, nil
}

// source is the file, opened.
func (f File) source() (source result.Source, file io.Closer, err error) {
	source = result.Source{Name: f.name, Data: bytes.NewReader(f.text), Size: int64(len(f.text))}
	if f.text != nil {
		return source, io.NopCloser(nil), nil
	}
	data, err := files.OpenRegular(f.Path)
	if err != nil {
		return source, nil, err
	}
	info, err := data.Stat()
	if err != nil {
		return source, nil, errors.Join(err, data.Close())
	}
	source.Data, source.Size = data, info.Size()
	return source, data, nil
}

// AddNote gives results that are tables in a text the text.
func (f File) AddNote(found []result.Found) error {
	var runs []*trace.Origin
	var tables []int
	for _, one := range found {
		o := one.Run.Origin
		if o != nil && o.Detail == trace.Table && o.Line > 0 && one.Records == nil { // else it is an export
			runs, tables = append(runs, o), append(tables, o.Line)
		}
	}
	if runs == nil {
		return nil
	}
	source, file, err := f.source()
	if err != nil {
		return err
	}
	note, err := ingest.Note(source, tables)
	for _, o := range runs {
		o.Note = note
	}
	return errors.Join(err, file.Close())
}

// ReportProblems reports on stderr files that could not be read.
func (s *Session) ReportProblems(problems []result.Problem) {
	for _, problem := range problems {
		fmt.Fprintln(s.Stderr, "pitot: "+problem.Error())
	}
}
