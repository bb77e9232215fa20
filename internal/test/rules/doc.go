// Package rules holds the repository to its own rules: every package has a doc and
// a place, an area imports only what stands below it, banned dependencies stay out,
// and no file is too long. It has tests and nothing else.
package rules
