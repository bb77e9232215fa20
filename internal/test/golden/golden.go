// Package golden compares the output of a test with a file in testdata. Only tests
// use it.
package golden

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check compares got with a file, below the folder of the test; UPDATE=1 writes it.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (- want, + got):\n%s", file, diff)
	}
}

// JSON decodes a file, below the folder of the test.
func JSON(t testing.TB, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var long = regexp.MustCompile(`\d+\.\d{6,}`)

// Rounded is a text whose long numbers have six digits: their last ones differ between processors.
func Rounded(text string) string {
	return long.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			panic(err) // it is a number
		}
		return strconv.FormatFloat(v, 'g', 6, 64)
	})
}
