//go:build race

package race

// Enabled reports whether the race detector is part of this build.
const Enabled = true
