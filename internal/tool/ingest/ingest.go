// Package ingest reads the results that other tools left behind: tables in
// notes and terminal logs, and result files.
//
//	source ──> Read ──┬─> Found: a run with its Origin, and its records if they are there
//	                  └─> Problem: a place that could not be read, and why
//
// What is found is not interpreted: figures keep the meaning that their tool gives
// them, and their names say which tool. One unreadable part does not stop the
// rest. The same result gives the same run, with the same id: one in a file of its own
// by its bytes, a table in a note by its figures and its name.
//
// A text is read line by line. Headings make an outline; what stands between a table and the one before it is its
// window: candidates for its name, each with a score by its form, and command lines. A label that its form marks, such
// as one with a colon, names its table at once. Once all is read, tables of one name and one load are told apart by the
// best of the other candidates, or else by their command lines, or else taken as repeated runs, which is said. Tables
// that people draw, and consoles of other tools, are read by package grid, and get their names in the same way.
//
// Changes that the author states are claims. Each is kept with a table: the one whose section or label it stands in, or
// any, marked as loose. Which change it means is for the comparison to decide, where variants and loads are known.
package ingest
