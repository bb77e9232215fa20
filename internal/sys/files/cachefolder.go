package files

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MakeFolder creates a folder that only its owner can read, with those above it.
func MakeFolder(name string) error { return os.MkdirAll(name, 0o700) }

// TryWriting reports whether a file of so many bytes can be written into a folder. None is left.
func TryWriting(folder string, bytes int) error {
	name := filepath.Join(folder, "space")
	err := WritePrivate(name, func(w io.Writer) error {
		_, err := w.Write(make([]byte, bytes))
		return err
	})
	if err != nil {
		return err
	}
	return os.Remove(name)
}

// Touch notes that a file was used now.
func Touch(name string) error {
	now := time.Now()
	return os.Chtimes(name, now, now)
}

// Prune removes files of a folder, those first that were not touched for the longest, until the rest has at most so
// many bytes. Those touched after recent stay. Leftovers of interrupted writes go too, after a day.
func Prune(folder string, most int64, recent time.Time) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var all []fs.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular(): // gone, or not ours
		case strings.HasSuffix(e.Name(), incomplete):
			if time.Since(info.ModTime()) > 24*time.Hour {
				_ = Remove(filepath.Join(folder, e.Name())) // another process may be first
			}
		default:
			all, total = append(all, info), total+info.Size()
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range all {
		if total <= most || info.ModTime().After(recent) {
			return nil
		}
		if err := Remove(filepath.Join(folder, info.Name())); err != nil {
			return err
		}
		total -= info.Size()
	}
	return nil
}
