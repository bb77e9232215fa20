package apiserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	"strings"

	// image.DecodeConfig knows the formats that are linked in.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	_ "golang.org/x/image/webp"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

var (
	errRemoteImage = errors.New("this server fetches nothing: send the image as a data: URL")
	errNotBase64   = errors.New("only base64 data: URLs are supported for images")
	errNotAnImage  = errors.New("cannot identify image file: want JPEG, PNG, GIF or WebP")
)

// patch is the side of the square of pixels that becomes one token, 28 as in
// Qwen2-VL (patches of 14, merged two by two).
const patch = 28

// readImage counts the tokens of the image in a data: URL, and tells its content
// from others by the first bytes of a SHA-256. Only the image's header is
// decoded.
func readImage(url string) (engine.Image, error) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return engine.Image{}, errRemoteImage
	}
	kind, data, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(kind, ";base64") {
		return engine.Image{}, errNotBase64
	}
	header, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil || header.Width <= 0 || header.Height <= 0 {
		return engine.Image{}, errNotAnImage
	}
	sum := sha256.Sum256([]byte(data))
	return engine.Image{
		Tokens: min(patches(header.Width)*patches(header.Height), 1<<30),
		Hash:   binary.BigEndian.Uint64(sum[:]),
	}, nil
}

func patches(pixels int) int { return (pixels + patch - 1) / patch }
