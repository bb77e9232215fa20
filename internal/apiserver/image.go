package apiserver

import (
	"encoding/base64"
	"errors"
	"image"
	"strings"

	// image.DecodeConfig knows the formats that are linked in.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"
)

var (
	errRemoteImage = errors.New("this server fetches nothing: send the image as a data: URL")
	errNotBase64   = errors.New("only base64 data: URLs are supported for images")
	errNotAnImage  = errors.New("cannot identify image file: want JPEG, PNG, GIF or WebP")
)

// patch is the side of the square of pixels that becomes one token, 28 as in
// Qwen2-VL (patches of 14, merged two by two).
const patch = 28

// imageTokens is the number of tokens of the image in a data: URL. Only the
// image's header is decoded.
func imageTokens(url string) (int, error) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return 0, errRemoteImage
	}
	kind, data, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(kind, ";base64") {
		return 0, errNotBase64
	}
	header, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil || header.Width <= 0 || header.Height <= 0 {
		return 0, errNotAnImage
	}
	return min(patches(header.Width)*patches(header.Height), 1<<30), nil
}

func patches(pixels int) int { return (pixels + patch - 1) / patch }
