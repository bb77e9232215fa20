// Package engine decides when each token leaves a serving engine that is not
// there.
package engine
