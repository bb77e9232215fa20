// Package plan is a run as data.
//
// A Spec says everything that a run needs to be made, and to be made again: what is
// measured, what is sent and when, what precedes it, and by whose definitions it is
// reported. Flags, files, the command lines of other tools and stored runs all become
// one, and from there on nothing knows which of them it was.
//
// The package has the form of a Spec and no more. What a dataset, an arrival process
// or a dialect can be told is known to those who build them: to a Spec they are a
// Thing, a kind and settings, which the kind itself decodes and checks.
//
//	flags ─┐                    ┌─> run.Prepare
//	file  ─┼─> Spec ── check ───┤
//	run   ─┘        Problems    └─> a front end names their paths in its own words
//
// What is wrong with a Spec is a Problem: a path, a value, a reason, a way out. What is
// to be said of a run is a Message: a code and arguments, which show/words has the words
// for. Neither is ever read back from a sentence.
package plan
