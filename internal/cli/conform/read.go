package conform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// Read reads results that --conform names: files, and the JSON files of folders. It reports the problems of all of
// them at once.
func Read(names []string) (reports []conform.Report, err error) {
	var errs []error
	for _, name := range names {
		all, err := filesOf(name)
		if err != nil {
			errs = append(errs, session.Usagef("--conform: %w", err))
		}
		for _, file := range all {
			more, err := readFile(file)
			if err != nil {
				errs = append(errs, session.Usagef("--conform: %w", err))
			}
			reports = append(reports, more...)
		}
	}
	return reports, errors.Join(errs...)
}

// filesOf are the JSON files of a folder, or a file itself.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	all, err := filepath.Glob(filepath.Join(name, "*.json"))
	if err == nil && len(all) == 0 {
		err = errors.New(name + ": has no file that ends in .json; make one with `pitot conform run -o FILE.json`")
	}
	return all, err
}

func readFile(name string) ([]conform.Report, error) {
	data, err := files.ReadSmall(name)
	if err != nil {
		return nil, err
	}
	reports, err := conform.ReadReports(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return reports, nil
}
