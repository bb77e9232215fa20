package vllm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A CustomAudio takes sounds from JSON Lines:
//
//	{"prompt": "What is said?", "audio": "a.wav"}
//	{"prompt": "What is said?", "audio": {"array": [0, 0.5], "sampling_rate": 16000}}
//
// A WAV file is decoded and sent as 16-bit WAV, as that tool does with all formats.
// Others are sent as they are.
type CustomAudio struct {
	file[audioLine]
	Output int  `json:"output_len" flag:"output-len,custom-output-len"` // 0: the line's output_tokens
	Chat   bool `json:"chat,omitempty" flag:"enable-multimodal-chat"`   // audio in a chat
	Common
}

// An audioLine is a line with a sound that has not been read.
type audioLine struct {
	place  string
	prompt string
	output int
	path   string
	sound  *sound
}

// Check reports all problems.
func (d *CustomAudio) Check(s *workload.Source) plan.Problems {
	return append(d.file.Check(s), ownOutput(d.Output)...)
}

func (d *CustomAudio) Read(_ context.Context, s *workload.Source) error {
	return d.read(s, linesBy(d.line))
}

func (d *CustomAudio) line(row rows.Row) (l audioLine, err error) {
	l.place, l.output = row.Place(), d.Output
	if l.prompt, err = row.String("prompt"); err != nil {
		return l, err
	}
	if d.Output == 0 {
		n, err := row.Int("output_tokens")
		if err != nil {
			return l, err
		}
		l.output = int(n)
	}
	raw, err := row.JSON("audio")
	if err != nil || !row.Has("audio") {
		return l, errors.Join(err, row.Errorf("audio", "is missing"))
	}
	if json.Unmarshal(raw, &l.path) == nil {
		return l, nil
	}
	var samples struct {
		Array []float64 `json:"array"`
		Rate  int       `json:"sampling_rate"`
	}
	if json.Unmarshal(raw, &samples) != nil || samples.Array == nil || samples.Rate < 1 {
		return l, row.Errorf("audio", "must be the path of a file, or an object with array and sampling_rate")
	}
	l.sound = &sound{samples: samples.Array, rate: samples.Rate, channels: 1}
	return l, nil
}

// Build makes requests of the lines, with the sounds that they name.
func (d *CustomAudio) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	w, err := inOrder(ctx, &d.Common, s, d.lines, d.request)
	if err != nil {
		return w, d.blame(err)
	}
	noteSounds(&w)
	d.finish(&w, s)
	return w, nil
}

func (d *CustomAudio) request(ctx context.Context, s *workload.Source, l audioLine) (r workload.Request, err error) {
	defer func() { err = atPlace(l.place, err) }()
	r = workload.Request{Text: l.prompt, OutputTokens: l.output}
	if !d.Chat && s.Vocab.Template != nil && s.Tokens != nil {
		if r.Text, err = d.render(s, l.prompt); err != nil {
			return r, err
		}
	}
	if r.PromptTokens, err = s.Count(ctx, r.Text); err != nil {
		return r, err
	}
	m := workload.Media{MIME: "audio/wav"}
	if l.sound != nil {
		m.Data, m.Seconds = l.sound.encodeWAV(), l.sound.seconds()
	} else if m, err = loadSound(ctx, s, l.path); err != nil {
		return r, err
	}
	r.Media = []workload.Media{m}
	return r, nil
}

func loadSound(ctx context.Context, s *workload.Source, path string) (workload.Media, error) {
	b, err := fetch(ctx, s, "file://"+path)
	if err != nil {
		return workload.Media{}, err
	}
	m, err := soundOf(b)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// soundOf is a file of sound as it is sent: WAV decoded and encoded anew, others as
// they are.
func soundOf(b []byte) (workload.Media, error) {
	kind := soundKind(b)
	switch kind {
	case "audio/wav":
		s, err := decodeWAV(b)
		if err != nil {
			return workload.Media{}, err
		}
		return workload.Media{MIME: kind, Data: s.encodeWAV(), Seconds: s.seconds()}, nil
	case "audio/flac":
		return workload.Media{MIME: kind, Data: b, Seconds: flacSeconds(b)}, nil
	case "":
		return workload.Media{}, errors.New("no sound that is known: must be WAV, FLAC, MP3, Ogg or M4A")
	}
	return workload.Media{MIME: kind, Data: b}, nil
}

// soundKind tells a format by how its files begin.
func soundKind(b []byte) string {
	begins := func(s string) bool { return bytes.HasPrefix(b, []byte(s)) }
	switch {
	case begins("RIFF"):
		return "audio/wav"
	case begins("fLaC"):
		return "audio/flac"
	case begins("OggS"):
		return "audio/ogg"
	case begins("ID3"), len(b) > 1 && b[0] == 0xff && b[1]&0xe0 == 0xe0:
		return "audio/mpeg"
	case len(b) > 8 && string(b[4:8]) == "ftyp":
		return "audio/mp4"
	}
	return ""
}

// flacSeconds is how long a FLAC file is by its first block, 0 if that does not say.
func flacSeconds(b []byte) float64 {
	const info = 4 + 4 + 10 // the mark, the head of the block, sizes of blocks and frames
	if len(b) < info+8 {
		return 0
	}
	v := binary.BigEndian.Uint64(b[info:])
	rate, samples := v>>44, v&(1<<36-1)
	if rate == 0 {
		return 0
	}
	return float64(samples) / float64(rate)
}

// noteSounds says that sounds are sent in another form than that tool's.
func noteSounds(w *workload.Workload) {
	other := map[string]int{}
	for _, r := range w.Requests {
		for _, m := range r.Media {
			if m.MIME != "audio/wav" && strings.HasPrefix(m.MIME, "audio/") {
				other[m.MIME]++
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(other)) {
		w.Notes = append(w.Notes, plan.Msg(soundsAsIs, "sounds", other[kind], "kind", kind))
	}
}
