// Package rules checks the repository against its own rules: every package has a
// doc and a place, an area imports only areas below it, banned dependencies stay
// out, and no file is too long. It contains only tests.
package rules
