package sglang

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A data names the file of a dataset, or a folder with tables.
type data struct {
	Data string `json:"data,omitempty" flag:"dataset-path"` // empty: where the tool keeps the file

	kind string // of the dataset, by the tool's name
	name string // of the file that was read
}

func (d *data) Describe() plan.Message { return workload.Describe(d.kind, plan.Text(d.Data)) }

// A datasetLocation is where the tool has a dataset: a file among the temporary ones, else those of
// a dataset of the Hugging Face hub that fit a pattern. Lack is the message where there is none;
// empty: the dataset can do without.
type datasetLocation struct{ temp, repository, pattern, lack string }

// A file is one of a dataset, open.
type file struct {
	name string
	workload.Reader
}

// blame is an error in the content of the file.
func (d *data) blame(err error) error { return workload.Blame("data", cmp.Or(d.name, d.Data), err) }

// read lets each have the first of the files.
func (d *data) read(ctx context.Context, s *workload.Source, k datasetLocation, each func(*file) error) error {
	return d.readAll(ctx, s, k, 1, each)
}

// readAll lets each have up to n of the files, one after the other.
func (d *data) readAll(
	ctx context.Context, s *workload.Source, k datasetLocation, n int, each func(*file) error,
) error {
	from, names, err := d.find(ctx, s, k)
	if err != nil {
		return workload.Blame("data", d.Data, err)
	}
	for _, name := range names[:min(n, len(names))] {
		d.name = name
		if err := readOne(from, name, each); err != nil {
			return d.blame(err)
		}
	}
	if len(names) == 0 && k.lack != "" {
		return plan.Problems{{Path: "data", Why: "a file is needed", Hint: k.lack}}
	}
	return nil
}

func readOne(from func(string) (workload.Reader, error), name string, each func(*file) error) error {
	r, err := from(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	return each(&file{name, r})
}

// find says which files there are, and how they are opened.
func (d *data) find(ctx context.Context, s *workload.Source, k datasetLocation) (open func(string) (workload.Reader, error), names []string, err error) {
	if s.Files.Open == nil || s.Files.Folder == nil {
		return nil, nil, errors.New("no files can be read here")
	}
	if d.Data != "" {
		folder := s.Files.Folder(d.Data)
		if folder == nil {
			return s.Files.Open, []string{d.Data}, nil
		}
		names, err = tables(folder)
		return opener(folder), names, err
	}
	if name := path.Join(s.Files.Temp, k.temp); k.temp != "" {
		if f, err := s.Files.Open(name); err == nil {
			return s.Files.Open, []string{name}, f.Close()
		}
	}
	if k.repository == "" || s.Files.Repository == nil {
		return nil, nil, nil
	}
	files, _, err := s.Files.Repository(ctx, k.repository)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err == nil {
		names, err = fs.Glob(files, k.pattern)
	}
	return opener(files), names, err
}

// tables are the files of a folder that hold rows.
func tables(folder fs.FS) (names []string, err error) {
	for _, pattern := range []string{"*.parquet", "*.jsonl", "*.json"} {
		found, err := fs.Glob(folder, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, errors.New("a folder without Parquet or JSON files")
	}
	return names, nil
}

func opener(files fs.FS) func(string) (workload.Reader, error) {
	return func(name string) (workload.Reader, error) {
		f, err := files.Open(name)
		if err != nil {
			return nil, err
		}
		if r, ok := f.(workload.Reader); ok {
			return r, nil
		}
		return nil, errors.Join(fmt.Errorf("%s cannot be read in parts", name), f.Close())
	}
}

// table is the file as rows: what its name says, else JSON Lines.
func (f *file) table() (*rows.Table, error) {
	if _, _, err := rows.FormatOf(f.name); err != nil {
		return rows.ReadAs(rows.JSONLines, f)
	}
	return rows.OpenFile(f.name, f)
}

// rows calls each for every row of the file.
func (f *file) rows(each func(rows.Row) error) error {
	table, err := f.table()
	if err != nil {
		return err
	}
	for row, err := range table.All() {
		if err == nil {
			err = each(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A badLines counts lines that are no JSON, which some of the tool's datasets leave
// out.
type badLines struct{ n int }

func (b *badLines) skip(line []byte) bool {
	if json.Valid(line) {
		return false
	}
	b.n++
	return true
}

func (b *badLines) note() []plan.Message {
	if b.n == 0 {
		return nil
	}
	return []plan.Message{plan.Msg(linesLeftOut, "lines", b.n)}
}

// decode reads a JSON value into v.
func decode(b []byte, v any) error { return rows.WrongType(json.Unmarshal(b, v)) }
