package vllm

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

// splitWords are what names of files and folders say for a split.
var splitWords = map[string][]string{
	"train":      {"train", "training"},
	"validation": {"validation", "valid", "dev", "val"},
	"test":       {"test", "testing", "eval", "evaluation"},
}

// notData are JSON files of a dataset's folder that are about it.
var notData = []string{"config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}

// dataFiles are the files of the split, in the order of their names.
func (h *HF) dataFiles(f family) ([]string, error) {
	if h.only != "" {
		return []string{h.only}, nil
	}
	all, err := h.tables()
	if err != nil {
		return nil, err
	}
	subset, split := h.Subset, cmp.Or(h.Split, f.split, "train")
	if f.noSubset {
		subset = ""
	}
	card, err := h.card()
	if err != nil {
		return nil, err
	}
	if files, ok, err := card.files(all, cmp.Or(subset, f.subset), split); ok {
		return files, err
	}
	if all, err = ofSubset(all, subset, f.subset); err != nil {
		return nil, err
	}
	files := ofSplit(all, split)
	if len(files) == 0 {
		return nil, plan.Problems{{Path: "split", Value: strconv.Quote(split), Why: "no file is of that split by its name; there are " + listFirst(all)}}
	}
	return files, nil
}

// tables are the files that hold rows, those of the format that is the most frequent.
func (c snapshot) tables() ([]string, error) {
	all, err := c.list()
	if err != nil {
		return nil, err
	}
	by := map[rows.Format][]string{}
	for _, p := range all {
		if isData(p) {
			format, _, _ := rows.FormatOf(p)
			by[format] = append(by[format], p)
		}
	}
	var most []string
	for _, format := range []rows.Format{rows.Parquet, rows.JSONLines, rows.JSON, rows.CSV} {
		if len(by[format]) > len(most) {
			most = by[format]
		}
	}
	if len(most) == 0 {
		return nil, errors.New("the copy has no file whose name ends in .parquet, .jsonl, .json or .csv")
	}
	slices.Sort(most)
	return most, nil
}

// isData tells files of rows from hidden ones and from those about the dataset.
func isData(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return false
		}
	}
	_, _, err := rows.FormatOf(p)
	return err == nil && !slices.Contains(notData, path.Base(p))
}

// ofSubset are the files below folders of the subset's name. A subset that is not
// asked for but usual need not be there.
func ofSubset(files []string, asked, usual string) ([]string, error) {
	subset := cmp.Or(asked, usual)
	if subset == "" {
		return files, nil
	}
	out := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return !slices.Contains(strings.Split(path.Dir(file), "/"), subset)
	})
	switch {
	case len(out) > 0:
		return out, nil
	case asked == "":
		return files, nil
	}
	return nil, plan.Problems{{Path: "subset", Value: subset, Why: "no folder of that name has files; there are " + listFirst(files)}}
}

// ofSplit are the files of a split: by the form SPLIT-00000-of-00003, else by a word
// for it in their names; without such words at all, everything is of train.
func ofSplit(files []string, split string) []string {
	numbered := regexp.MustCompile(`(^|/)` + regexp.QuoteMeta(split) + `-\d{5}-of-\d{5}`)
	if out := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !numbered.MatchString(f) }); len(out) > 0 {
		return out
	}
	var out []string
	anySplit := false
	for _, file := range files {
		for name, words := range splitWords {
			if !containsAny(file, words) {
				continue
			}
			anySplit = true
			if name == split || slices.Contains(words, split) {
				out = append(out, file)
			}
		}
	}
	if !anySplit && split == "train" {
		return files
	}
	return out
}

func containsAny(file string, words []string) bool {
	notLetter := func(r rune) bool { return r < 'a' || r > 'z' }
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(file), notLetter), func(w string) bool { return slices.Contains(words, w) })
}

func listFirst(files []string) string {
	const few = 5
	if len(files) > few {
		return strings.Join(files[:few], ", ") + " and more"
	}
	return strings.Join(files, ", ")
}

// oneByOne are the rows of files, errors with the names of theirs.
func (c snapshot) oneByOne(files []string) iter.Seq2[rows.Row, error] {
	return func(yield func(rows.Row, error) bool) {
		for _, name := range files {
			more, err := c.readFile(name, yield)
			if err != nil {
				yield(rows.Row{}, fmt.Errorf("%s: %w", name, err))
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// readFile yields the rows of a file as long as more are wanted.
func (c snapshot) readFile(name string, yield func(rows.Row, error) bool) (more bool, err error) {
	f, err := c.fs.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	table, err := rows.OpenFile(name, f)
	if err != nil {
		return false, err
	}
	for row, err := range table.All() {
		if err != nil || !yield(row, nil) {
			return false, err
		}
	}
	return true, nil
}

// ordered are the rows in the order in which they are taken.
func (h *HF) ordered(seed uint64) iter.Seq2[rows.Row, error] {
	switch {
	case h.NoShuffle:
		return h.oneByOne(h.files)
	case h.Gather:
		return h.permuted(seed)
	}
	return h.buffered(seed)
}

// permuted is Dataset.shuffle: all rows in a random order.
func (h *HF) permuted(seed uint64) iter.Seq2[rows.Row, error] {
	return func(yield func(rows.Row, error) bool) {
		var all []rows.Row
		for row, err := range h.oneByOne(h.files) {
			if err != nil {
				yield(row, err)
				return
			}
			all = append(all, row)
		}
		for _, i := range pyrand.NewGenerator(seed).Permutation(len(all)) {
			if !yield(all[i], nil) {
				return
			}
		}
	}
}

// Numbers of IterableDataset.shuffle.
const (
	shuffleBuffer  = 1000
	shuffleSources = 10 // files that are read in turn
)

// buffered is IterableDataset.shuffle of datasets 5.2: the files are shuffled and put
// into up to ten groups, which are read in turn, a tenth of a buffer at a time (of
// CSV, a row); whenever the buffer is full it is shuffled, and half of it goes out.
// Up to a thousand rows in one file that is a permutation of them, as in all versions.
func (h *HF) buffered(seed uint64) iter.Seq2[rows.Row, error] {
	return func(yield func(rows.Row, error) bool) {
		rng := pyrand.NewGenerator(seed)
		var buffer []rows.Row
		flush := func(keep int) bool {
			order := rng.Permutation(len(buffer))
			rest := make([]rows.Row, 0, shuffleBuffer)
			for n, i := range order {
				if n >= len(order)-keep {
					rest = append(rest, buffer[i])
				} else if !yield(buffer[i], nil) {
					return false
				}
			}
			buffer = rest
			return true
		}
		for chunk, err := range inTurn(h.groups(seed), chunkSize(h.files)) {
			if err != nil {
				yield(rows.Row{}, err)
				return
			}
			buffer = append(buffer, chunk...)
			if len(buffer) >= shuffleBuffer && !flush(shuffleBuffer/2) {
				return
			}
		}
		flush(0)
	}
}

func chunkSize(files []string) int {
	if format, _, _ := rows.FormatOf(files[0]); format == rows.CSV {
		return 1
	}
	return shuffleBuffer / shuffleSources
}

// groups are the shuffled files in up to ten parts, each read one file after the other.
func (h *HF) groups(seed uint64) []iter.Seq2[rows.Row, error] {
	files := slices.Clone(h.files)
	pyrand.NewGenerator(seed).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	n := min(len(files), shuffleSources)
	each, more := len(files)/n, len(files)%n
	var out []iter.Seq2[rows.Row, error]
	for i := range n {
		size := each
		if i < more {
			size++
		}
		out = append(out, h.oneByOne(files[:size]))
		files = files[size:]
	}
	return out
}

// inTurn takes so many rows from each source, round and round, until all are at their
// end.
func inTurn(sources []iter.Seq2[rows.Row, error], size int) iter.Seq2[[]rows.Row, error] {
	return func(yield func([]rows.Row, error) bool) {
		var nexts []func() (rows.Row, error, bool)
		for _, s := range sources {
			next, stop := iter.Pull2(s)
			defer stop()
			nexts = append(nexts, next)
		}
		for len(nexts) > 0 {
			rest := nexts[:0]
			for _, next := range nexts {
				chunk, more, err := upTo(next, size)
				if err != nil || len(chunk) > 0 {
					if !yield(chunk, err) || err != nil {
						return
					}
				}
				if more {
					rest = append(rest, next)
				}
			}
			nexts = rest
		}
	}
}

// upTo takes up to n items; more is false at the end.
func upTo[T any](next func() (T, error, bool), n int) (chunk []T, more bool, err error) {
	for len(chunk) < n {
		item, err, ok := next()
		if err != nil || !ok {
			return chunk, false, err
		}
		chunk = append(chunk, item)
	}
	return chunk, true, nil
}
