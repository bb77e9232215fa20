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
package ingest
