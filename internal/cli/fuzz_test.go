package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Times come back as they were read, as far as a float64 tells nanoseconds.
func FuzzReplay(f *testing.F) {
	for _, text := range []string{"0\n0.5\n1e0\n", "# a comment\n\n  2.25  \r\n", "soon\n", "1e300", "-1\n", "NaN\n", "0x1p-2\n1_0\n"} {
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "times")
	f.Fuzz(func(t *testing.T, text string) {
		at, err := timesIn(t, file, text)
		if err != nil {
			return
		}
		if len(at) == 0 || len(at) > 1+strings.Count(text, "\n") {
			t.Fatalf("%q gives %d times", text, len(at))
		}
		var lines []string
		for i := range at {
			at[i] %= 1 << 50
			sign := ""
			if at[i] < 0 {
				sign = "-"
			}
			n := at[i].Abs()
			lines = append(lines, fmt.Sprintf("%s%d.%09d", sign, n/time.Second, n%time.Second))
		}
		again, err := timesIn(t, file, strings.Join(lines, "\n"))
		if err != nil || !slices.Equal(again, at) {
			t.Errorf("%q is %v and comes back as %v, %v", text, at, again, err)
		}
	})
}

func timesIn(t *testing.T, file, text string) ([]time.Duration, error) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readTimes(file)
}
