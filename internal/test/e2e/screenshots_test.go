//go:build e2e

package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "folder to write the pictures of the README to")

// The pictures of the README are of the page as it is.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("make screenshots writes them")
	}
	w := stored(t)
	address := w.ui(t)
	p := newTab(t, launch(t))
	p.as(look{1280, 800, false, "en"})
	for name, hash := range map[string]string{"experiment": "#/experiments/slower", "run": "#/runs/first"} {
		p.open(address + hash)
		p.until(`document.querySelector('main table')`)
		data := get(p, chromedp.CaptureScreenshot())
		if err := os.MkdirAll(*screenshots, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
