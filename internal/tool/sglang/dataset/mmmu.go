package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // pictures of the dataset come in any of these
	_ "image/jpeg" //
	"image/png"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// MMMU is the dataset mmmu: questions of mathematics with a picture each, from a local
// copy of the split Math/test of MMMU.
type MMMU struct {
	Files    []*File // --dataset-path, or the Hugging Face cache
	Requests int     // --num-prompts
	Output   int     // --random-output-len
	Backend  string  // --backend
}

// Validate reports everything wrong with d at once.
func (d MMMU) Validate() error {
	return errors.Join(
		atLeast("--num-prompts", d.Requests, 1),
		atLeast("--random-output-len", d.Output, 0),
	)
}

// A picture question is a row.
type pictureQuestion struct {
	question string
	picture  []byte // of a file; nil if the row has none
	in       func(error) error
}

// Build samples the questions.
func (d MMMU) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if len(d.Files) == 0 {
		return Built{}, errNoFile("mmmu", "a local copy of the split Math/test of MMMU/MMMU in Parquet; PITOT_HF_DOWNLOAD=1 allows to download it")
	}
	if err := checkImageBackend(s.Form, d.Backend); err != nil {
		return Built{}, err
	}
	all, err := d.read()
	if err != nil {
		return Built{}, err
	}
	var b Built
	chosen := all
	if len(all) > d.Requests {
		chosen = make([]pictureQuestion, d.Requests)
		for i, at := range s.Python.Sample(len(all), d.Requests) {
			chosen[i] = all[at]
		}
	} else {
		b.Lines = append(b.Lines, fmt.Sprintf("Dataset has less than %d examples, using all examples", d.Requests))
	}
	b.Lines = append(b.Lines, fmt.Sprintf("Selected %d examples for benchmarking", len(chosen)))
	if b.Requests, err = d.requests(ctx, s, chosen); err != nil {
		return Built{}, err
	}
	b.Lines = append(b.Lines, "", fmt.Sprintf("Created %d MMMU prompts", len(b.Requests)))
	b.Notes = s.pictureNotes(d.Backend)
	return b, nil
}

func (d MMMU) read() (all []pictureQuestion, err error) {
	for _, f := range d.Files {
		table, err := f.table()
		if err != nil {
			return nil, f.in(err)
		}
		for row, err := range table.All() {
			if err != nil {
				return nil, f.in(err)
			}
			q, err := readQuestion(row)
			if err != nil {
				return nil, f.in(err)
			}
			q.in = func(err error) error { return f.in(row.Errorf("image_1", "%w", err)) }
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		return nil, d.Files[0].in(errors.New("no rows: the file is empty"))
	}
	return all, nil
}

func readQuestion(row rows.Row) (q pictureQuestion, err error) {
	if q.question, err = row.String("question"); err != nil || !row.Has("image_1") {
		return q, err
	}
	v, err := row.Value("image_1")
	if err != nil {
		return q, err
	}
	if fields, ok := v.(map[string]any); ok {
		v = fields["bytes"]
	}
	switch v := v.(type) {
	case []byte:
		q.picture = v
	case string: // JSON has no bytes
		_, data, isURI := strings.Cut(v, ";base64,")
		if !isURI {
			data = v
		}
		if q.picture, err = base64.StdEncoding.DecodeString(data); err != nil {
			return q, row.Errorf("image_1", "is not a picture in base64: %w", err)
		}
	default:
		return q, row.Errorf("image_1", "must hold the bytes of a picture")
	}
	return q, nil
}

// requests are of the questions that have a picture.
func (d MMMU) requests(ctx context.Context, s *Source, chosen []pictureQuestion) ([]workload.Request, error) {
	with := slices.DeleteFunc(slices.Clone(chosen), func(q pictureQuestion) bool { return q.picture == nil })
	if len(with) == 0 {
		return nil, d.Files[0].in(errors.New("no row has a picture in column image_1"))
	}
	requests := make([]workload.Request, len(with))
	return requests, workload.Each(ctx, len(with), func(ctx context.Context, i int) error {
		data, err := asPNG(with[i].picture)
		if err != nil {
			return with[i].in(err)
		}
		r := &requests[i]
		r.OutputTokens = d.Output
		r.Media = []workload.Media{{MIME: "image/png", Data: data}}
		if err := s.put(ctx, r, "Question: "+with[i].question+"\n\nAnswer: ", d.Backend); err != nil {
			return err
		}
		return s.Spool.Keep(r)
	})
}

// asPNG is a picture as PNG, without transparency: what is behind it shows as if it
// were not there, as the tool converts.
func asPNG(file []byte) ([]byte, error) {
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("holds no picture that can be read: %w", err)
	}
	if colours, ok := img.(*image.NRGBA); ok {
		for i := 3; i < len(colours.Pix); i += 4 {
			colours.Pix[i] = 255
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return buf.Bytes(), nil
}
