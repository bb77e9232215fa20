// Package program builds Pitot as it is shipped, for tests that run it as a process, and finds ports for it.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build compiles the program, static and without cgo, into a folder, and returns its path. What PITOT_TEST_PROGRAM names is a
// program that was built before, for all packages that run one: it is copied.
func Build(folder string) (string, error) {
	path := filepath.Join(folder, "pitot")
	if built := os.Getenv("PITOT_TEST_PROGRAM"); built != "" {
		if out, err := exec.Command("cp", built, path).CombinedOutput(); err != nil {
			return "", fmt.Errorf("PITOT_TEST_PROGRAM: %w\n%s", err, out)
		}
		return path, nil
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./cmd/pitot")
	cmd.Dir, cmd.Env = strings.TrimSpace(string(root)), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
}
