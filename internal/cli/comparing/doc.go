// Package comparing is what commands and the page do alike with runs that are to be compared:
// which stored runs a name stands for, how an experiment wants its own to be judged, and the
// comparison, for which one run after the other is in memory.
//
//	names ──> Finder ──> picks ──> Compare ──> compare.Comparison     commands: text, gates, notes
//	                                  │
//	                 Page: kept observations, one at a time, no run that is too large
//	                                  └──> view.Comparison, view.Note  the page
package comparing
