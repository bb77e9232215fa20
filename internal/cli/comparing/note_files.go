package comparing

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// SavePage writes the note and the plots that it shows, all or none.
func SavePage(name string, page comparison.NotePage) error {
	all := []files.File{{Name: name, Write: writes(page.Markdown)}}
	for _, plot := range page.Plots {
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(plot.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make the folder of the plots: %w", err)
		}
		all = append(all, files.File{Name: file, Write: writes(plot.Data)})
	}
	if err := files.WriteAll(all...); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

func writes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
