package apiserver

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

func dataURL(kind string, b []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b)
}

func pngURL(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return dataURL("image/png", b.Bytes())
}

func chatWithImage(url string, tokens int) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":[{"type":"text","text":"what is this"},`+
		`{"type":"image_url","image_url":{"url":%q}}]}],"max_tokens":%d,"ignore_eos":true,"stream":true,`+
		`"stream_options":{"include_usage":true}}`, url, tokens)
}

func TestImageTokens(t *testing.T) {
	picture := image.NewPaletted(image.Rect(0, 0, 1280, 720), color.Palette{color.Black, color.White})
	var asJPEG, asGIF bytes.Buffer
	if err := errors.Join(jpeg.Encode(&asJPEG, picture, nil), gif.Encode(&asGIF, picture, nil)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		url  string
		want int
		err  error
	}{
		{dataURL("image/jpeg", asJPEG.Bytes()), 46 * 26, nil}, // 1280/28 = 45.7, 720/28 = 25.7
		{dataURL("image/jpeg", asJPEG.Bytes()[:700]), 46 * 26, nil},
		{dataURL("image/gif", asGIF.Bytes()), 46 * 26, nil},
		{pngURL(t, 28, 28), 1, nil},
		{pngURL(t, 29, 28), 2, nil},
		{pngURL(t, 1, 1), 1, nil},
		{"http://example.com/a.png", 0, errRemoteImage},
		{"file:///a.png", 0, errRemoteImage},
		{"data:image/png,abc", 0, errNotBase64},
		{"data:image/png;base64,@@@@", 0, errNotAnImage},
		{dataURL("image/png", []byte("no image")), 0, errNotAnImage},
	} {
		image, err := readImage(test.url)
		if got := image.Tokens; got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%.40s: %d, %v; want %d, %v", test.url, image.Tokens, err, test.want, test.err)
		}
	}
}
