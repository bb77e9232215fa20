package sglang

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
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A mmmu is the dataset mmmu: questions of mathematics with a picture each, from a local
// copy of the split Math/test of MMMU.
type mmmu struct {
	common
	data
	carrier
	Output int `json:"output_len" flag:"random-output-len"`

	questions []pictureQuestion
}

type pictureQuestion struct {
	question string
	picture  []byte // of a file; nil if the row has none
	in       func(error) error
}

func (d *mmmu) Check(s *workload.Source) plan.Problems {
	p := append(d.common.check(), d.carrier.check(&d.common, s.Ask)...)
	p.If(d.Output < 0, "output_len", d.Output, "must be at least 0")
	return p
}

func (d *mmmu) Read(ctx context.Context, s *workload.Source) error {
	d.questions = nil
	err := d.readAll(ctx, s, datasetLocation{
		repository: "MMMU/MMMU", pattern: "Math/test-*.parquet",
		lack: "name a local copy of the split Math/test of MMMU/MMMU in Parquet; PITOT_HF_DOWNLOAD=1 allows to download it",
	}, math.MaxInt, d.readFile)
	if err == nil && len(d.questions) == 0 {
		err = d.blame(errors.New("no rows: the file is empty"))
	}
	return err
}

func (d *mmmu) readFile(f *file) error {
	return f.rows(func(row rows.Row) error {
		q, err := readQuestion(row)
		q.in = func(err error) error { return workload.Blame("data", f.name, row.Errorf("image_1", "%w", err)) }
		d.questions = append(d.questions, q)
		return err
	})
}

func (d *mmmu) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s, n := d.source(from), wanted(from)
	chosen := d.questions
	if len(chosen) > n {
		chosen = make([]pictureQuestion, n)
		for i, at := range s.python.Sample(len(d.questions), n) {
			chosen[i] = d.questions[at]
		}
	} else {
		w.Lines = append(w.Lines, fmt.Sprintf("Dataset has less than %d examples, using all examples", n))
	}
	w.Lines = append(w.Lines, fmt.Sprintf("Selected %d examples for benchmarking", len(chosen)))
	if w.Requests, err = d.requests(ctx, s, chosen); err != nil {
		return w, err
	}
	w.Lines = append(w.Lines, "", fmt.Sprintf("Created %d MMMU prompts", len(w.Requests)))
	w.Notes = d.pictureNotes(s)
	return s.finished(w), nil
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

func (d *mmmu) requests(ctx context.Context, s *source, chosen []pictureQuestion) ([]workload.Request, error) {
	with := slices.DeleteFunc(slices.Clone(chosen), func(q pictureQuestion) bool { return q.picture == nil })
	if len(with) == 0 {
		return nil, d.blame(errors.New("no row has a picture in column image_1"))
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
		if err := d.put(ctx, s, r, "Question: "+with[i].question+"\n\nAnswer: "); err != nil {
			return err
		}
		return s.Spool.Spill(r)
	})
}

// asPNG is an image as PNG, with opaque pixels: like the tool it drops the transparency.
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
