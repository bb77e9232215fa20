package vllm

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

func pngOf(t *testing.T, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	img.Set(0, 0, c)
	img.Set(1, 0, c)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What shines through is white, as that tool has it.
func TestTransparencyIsWhite(t *testing.T) {
	img, err := decodePicture(pngOf(t, color.NRGBA{R: 255, A: 128}))
	if err != nil {
		t.Fatal(err)
	}
	r, g, b, a := img.At(0, 0).RGBA()
	if r>>8 != 255 || g>>8 < 126 || g>>8 > 128 || g != b || a>>8 != 255 {
		t.Errorf("%d %d %d %d", r>>8, g>>8, b>>8, a>>8)
	}
	if _, err := decodePicture([]byte("no picture")); err == nil {
		t.Error("no error")
	}
}

// Pictures that are to be sent by content are fetched and sent as PNG, in both forms
// of lines, but data URLs stay.
func TestInline(t *testing.T) {
	var mu sync.Mutex // rows are made beside each other
	fetched := map[string]int{}
	c := &CustomImage{file: file[imageLine]{Data: "f"}, Inline: true, Output: 3, Common: Common{NoShuffle: true}}
	s := reading(`{"prompt":"p","image_files":["a.png","data:image/gif;base64,AA"]}
{"content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"http://h/b","detail":"low"}}]}`)
	s.Files.Fetch = func(_ context.Context, address string) (io.ReadCloser, error) {
		mu.Lock()
		defer mu.Unlock()
		fetched[address]++
		return io.NopCloser(bytes.NewReader(pngOf(t, color.Black))), nil
	}
	w, err := build(t, c, s)
	if err != nil {
		t.Fatal(err)
	}
	media := w.Requests[0].Media
	if len(media) != 2 || media[0].MIME != "image/png" || media[0].URL != "" || media[1].URL != "data:image/gif;base64,AA" {
		t.Errorf("%+v", media)
	}
	if size, err := png.DecodeConfig(bytes.NewReader(media[0].Data)); err != nil || size.Width != 2 {
		t.Errorf("%+v, %v", size, err)
	}
	parts := string(w.Requests[1].Parts)
	_, content, _ := strings.Cut(parts, "data:image/png;base64,")
	content, _, _ = strings.Cut(content, `"`)
	b, err := base64.StdEncoding.DecodeString(content)
	if _, errPNG := png.Decode(bytes.NewReader(b)); err != nil || errPNG != nil || !strings.Contains(parts, `"detail":"low"`) {
		t.Errorf("%s: %v, %v", parts, err, errPNG)
	}
	if fetched["file://a.png"] != 1 || fetched["http://h/b"] != 1 || len(fetched) != 2 {
		t.Error(fetched)
	}
	s.Files.Fetch = func(context.Context, string) (io.ReadCloser, error) { return nil, errors.New("gone") }
	if _, err := c.Build(t.Context(), s); err == nil || !strings.Contains(err.Error(), ": gone") || !strings.HasPrefix(err.Error(), "data f: line ") {
		t.Error(err)
	}
}

func flac(rate, samples uint64) []byte {
	b := append([]byte("fLaC\x80\x00\x00\x22"), make([]byte, 10)...)
	b = binary.BigEndian.AppendUint64(b, rate<<44|1<<41|15<<36|samples)
	return append(b, make([]byte, 16)...)
}

// Sounds that are not decoded go as they are, and a note says so; how long FLAC is
// stands at its head.
func TestOtherSounds(t *testing.T) {
	files := map[string][]byte{"a.flac": flac(16000, 24000), "b.mp3": []byte("ID3....")}
	from := func(lines string) *workload.Source {
		s := reading(lines)
		s.Files.Fetch = func(_ context.Context, address string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(files[strings.TrimPrefix(address, "file://")])), nil
		}
		return s
	}
	c := &CustomAudio{file: file[audioLine]{Data: "f"}, Output: 3, Chat: true, Common: Common{NoShuffle: true}}
	w, err := build(t, c, from(`{"prompt":"","audio":"a.flac"}`+"\n"+`{"prompt":"","audio":"b.mp3"}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []workload.Media{{MIME: "audio/flac", Data: files["a.flac"], Seconds: 1.5}, {MIME: "audio/mpeg", Data: files["b.mp3"]}} {
		got := w.Requests[i].Media[0]
		if got.MIME != want.MIME || got.Seconds != want.Seconds || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%d: %+v", i, got)
		}
	}
	want := []plan.Message{plan.Msg(soundsAsIs, "sounds", 1, "kind", "audio/flac"), plan.Msg(soundsAsIs, "sounds", 1, "kind", "audio/mpeg")}
	if diff := cmp.Diff(want, w.Notes); diff != "" {
		t.Error(diff)
	}
	if _, err := build(t, c, from(`{"prompt":"","audio":"none"}`)); err == nil || !strings.Contains(err.Error(), "line 1: none: no sound that is known") {
		t.Error(err)
	}
}

// A row that a filter of seconds can not judge is refused, not guessed.
func TestUnknownLengthIsRefused(t *testing.T) {
	h := &HF{MinAudio: 1}
	m, err := h.sound(map[string]any{"bytes": []byte("OggS....")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.spoken(one(t, `{"audio":1}`), m); err == nil || !strings.Contains(err.Error(), "leave out both limits") {
		t.Error(err)
	}
}
