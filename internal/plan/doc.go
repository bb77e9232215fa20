// Package plan is a run as data.
//
// A Spec has everything needed to make a run, and to repeat it: the target, the
// requests and their schedule, the steps before the run, and the definitions of the
// report. Flags, files, the command lines of other tools and stored runs all become
// a Spec, and nothing after that depends on the form it came from.
//
// The package defines the form of a Spec and no more. The settings of a dataset, an
// arrival process or a dialect belong to the package that builds it: to a Spec they
// are a Typed, a kind and settings, which the kind itself decodes and checks.
//
//	flags ─┐                    ┌─> run.Prepare
//	file  ─┼─> Spec ── check ───┤
//	run   ─┘        Problems    └─> a front end names their paths in its own words
//
// A mistake in a Spec is a Problem: a path, a value, a reason, a hint. A remark
// about a run is a Message: a code and arguments, worded by show/words. Neither is
// ever parsed back from a sentence.
//
// # Nesting
//
// Nesting says how deeply JSON from outside is nested, before anything that
// recurses reads it.
//
// JSON decoders recurse for every bracket. Ten million of them in a row, which is a small file, overflow the stack
// and end the process; a third of that takes half a minute. Counting brackets takes milliseconds, so code that
// decodes JSON of a server, a file or another tool asks here first.
//
// # Lists of values
//
// ParseValues reads lists of values as people write them: 1,2,5 and ranges of numbers.
//
//	1,2,5         1, 2 and 5
//	1..4          1, 2, 3 and 4
//	1..64x2       1, 2, 4 ... 64
//	1..10+3       1, 4, 7 and 10
//	uniform(1,9)  one value: commas in brackets and quotes separate nothing
//
// A value is a text; the caller interprets it.
package plan
