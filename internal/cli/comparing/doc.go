// Package comparing compares runs for commands and the page: it finds the stored runs that a name stands for,
// judges those of an experiment as its design asks, and loads one run after the other.
//
//	names ──> Finder ──> picks ──> Compare ──> compare.Comparison     commands: text, gates, notes
//	                                  │
//	                 Page: cached observations, one at a time, no run that is too large
//	                                  └──> view.Comparison, view.Note  the page
package comparing
