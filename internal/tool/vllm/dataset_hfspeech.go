package vllm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// transcription sends the sound of a row with the control tokens of the model.
func transcription(h *HF, row rows.Row, _ []string) (*draft, error) {
	v, err := row.Value("audio")
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, row.Errorf("audio", "is missing")
	}
	m, err := h.sound(v)
	if err != nil {
		return nil, row.Errorf("audio", "%w", err)
	}
	return h.spoken(row, m)
}

// earnings has the path of a sound within the copy in url.
func earnings(h *HF, row rows.Row, t []string) (*draft, error) {
	m, err := h.soundFile(t[0])
	if err != nil {
		return nil, row.Errorf("url", "%w", err)
	}
	return h.spoken(row, m)
}

func (h *HF) spoken(row rows.Row, m workload.Media) (*draft, error) {
	least, most := h.MinAudio, h.MaxAudio
	most = cmp.Or(most, math.Inf(1))
	if m.Seconds == 0 && (least > 0 || !math.IsInf(most, 1)) {
		return nil, plan.Problems{{Path: "min_audio", Why: fmt.Sprintf("%s: how long %s is cannot be told here", row.Place(), m.MIME), Hint: "leave out both limits, or have the sounds as WAV or FLAC"}}
	}
	if m.Seconds < least || m.Seconds > most {
		return nil, nil
	}
	return &draft{Request: workload.Request{Text: h.opening, Media: []workload.Media{m}}}, nil
}

// sound is a value of a dataset's audio column: an object with bytes, a path or
// samples, or a path.
func (h *HF) sound(v any) (workload.Media, error) {
	switch v := v.(type) {
	case []byte:
		return soundOf(v)
	case string:
		return h.soundFile(v)
	case map[string]any:
		if b, ok := v["bytes"].([]byte); ok {
			return soundOf(b)
		}
		if list, ok := v["array"].([]any); ok {
			return samples(list, v["sampling_rate"])
		}
		if p, ok := v["path"].(string); ok {
			return h.soundFile(p)
		}
	}
	return workload.Media{}, errors.New("is no sound: must be an object with bytes, a path, or array and sampling_rate")
}

func samples(list []any, rate any) (workload.Media, error) {
	s := sound{channels: 1, samples: make([]float64, len(list))}
	for i, v := range list {
		switch v := v.(type) {
		case float64:
			s.samples[i] = v
		case int64:
			s.samples[i] = float64(v)
		default:
			return workload.Media{}, fmt.Errorf("has a sample that is %v", v)
		}
	}
	hertz, ok := rate.(int64)
	if !ok || hertz < 1 {
		return workload.Media{}, errors.New("has no sampling_rate")
	}
	s.rate = int(hertz)
	return workload.Media{MIME: "audio/wav", Data: s.encodeWAV(), Seconds: s.seconds()}, nil
}

// soundFile reads a file that a row names, which must lie in the copy.
func (h *HF) soundFile(name string) (workload.Media, error) {
	within := filepath.ToSlash(name)
	if path.IsAbs(within) {
		within = strings.TrimPrefix(strings.TrimPrefix(within, filepath.ToSlash(h.root)), "/")
	}
	b, err := fs.ReadFile(h.fs, path.Clean(within))
	if err != nil {
		return workload.Media{}, fmt.Errorf("names a file that is not in the copy: %w", err)
	}
	return soundOf(b)
}
