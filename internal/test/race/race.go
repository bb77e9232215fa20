// Package race says whether tests run under the race detector, and skips those that need not.
package race

import "testing"

// Skip skips a test that takes long and shares nothing between goroutines: under the race detector, which would find
// nothing in it and makes it several times slower, and with -short.
func Skip(t testing.TB) {
	t.Helper()
	switch {
	case Enabled:
		t.Skip("long, and shares nothing: runs without the race detector")
	case testing.Short():
		t.Skip("long: runs without -short")
	}
}
