// Package plan is a run as data.
//
// A Spec has everything needed to make a run, and to repeat it: the target, the
// requests and their schedule, the steps before the run, and the definitions of the
// report. Flags, files, the command lines of other tools and stored runs all become
// a Spec, and nothing after that depends on the form it came from.
//
// The package defines the form of a Spec and no more. The settings of a dataset, an
// arrival process or a dialect belong to the package that builds it: to a Spec they
// are a Thing, a kind and settings, which the kind itself decodes and checks.
//
//	flags ─┐                    ┌─> run.Prepare
//	file  ─┼─> Spec ── check ───┤
//	run   ─┘        Problems    └─> a front end names their paths in its own words
//
// A mistake in a Spec is a Problem: a path, a value, a reason, a hint. A remark
// about a run is a Message: a code and arguments, worded by show/words. Neither is
// ever parsed back from a sentence.
package plan
