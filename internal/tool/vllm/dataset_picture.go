package vllm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// pictureAddress is where a picture lies as a request says it: an address stays, and
// anything else is a path of a file, which the server must be able to read.
func pictureAddress(s string) string {
	return address(s, "http://", "https://", "file://", "data:image/")
}

func address(s string, schemes ...string) string {
	for _, prefix := range schemes {
		if strings.HasPrefix(s, prefix) {
			return s
		}
	}
	return "file://" + s
}

// maxMedium is how many bytes of a picture or a sound are read.
const maxMedium = 1 << 30

func fetch(ctx context.Context, s *workload.Source, address string) ([]byte, error) {
	if s.Files.Fetch == nil {
		return nil, errors.New("nothing can be fetched here")
	}
	r, err := s.Files.Fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(io.LimitReader(r, maxMedium))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", address, err)
	}
	return b, nil
}

// inlined is the picture at an address by content: PNG, as that tool makes of everything
// but a data URL.
func inlined(ctx context.Context, s *workload.Source, address string) (m workload.Media, err error) {
	if strings.HasPrefix(address, "data:image/") {
		return workload.Media{MIME: "image/*", URL: address}, nil
	}
	b, err := fetch(ctx, s, address)
	if err != nil {
		return m, err
	}
	img, err := decodePicture(b)
	if err != nil {
		return m, fmt.Errorf("%s: %w", address, err)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return m, fmt.Errorf("%s: encode as PNG: %w", address, err)
	}
	return workload.Media{MIME: "image/png", Data: out.Bytes()}, nil
}

// decodePicture is a picture without transparency: what shines through is white.
func decodePicture(b []byte) (image.Image, error) {
	img, format, err := image.Decode(bytes.NewReader(b))
	if errors.Is(err, image.ErrFormat) {
		return nil, fmt.Errorf("%d bytes that are no JPEG, PNG, GIF, WebP, BMP or TIFF picture", len(b))
	}
	if err != nil {
		return nil, fmt.Errorf("decode a %s picture: %w", format, err)
	}
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img, nil
	}
	opaque := image.NewRGBA(img.Bounds())
	draw.Draw(opaque, opaque.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(opaque, opaque.Bounds(), img, img.Bounds().Min, draw.Over)
	return opaque, nil
}

// jpegOf is a picture of a dataset as it is sent: encoded anew as JPEG of quality 75.
func jpegOf(b []byte) (workload.Media, error) {
	img, err := decodePicture(b)
	if err != nil {
		return workload.Media{}, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 75}); err != nil {
		return workload.Media{}, fmt.Errorf("encode as JPEG: %w", err)
	}
	return workload.Media{MIME: "image/jpeg", Data: out.Bytes()}, nil
}

// picture is the picture that a value of a dataset is: an object with its bytes, or a
// text that says where it lies.
func picture(v any) (workload.Media, error) {
	switch v := v.(type) {
	case string:
		return workload.Media{MIME: "image/*", URL: pictureAddress(v)}, nil
	case []byte:
		return jpegOf(v)
	case map[string]any:
		if b, ok := v["bytes"].([]byte); ok {
			return jpegOf(b)
		}
		if s, ok := v["path"].(string); ok {
			return workload.Media{MIME: "image/*", URL: pictureAddress(s)}, nil
		}
	}
	return workload.Media{}, errors.New("is no picture: must be an object with bytes, or a path or address in text")
}
