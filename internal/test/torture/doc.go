// Package torture tries to hurt the program as shipped.
//
// Each test drives the built binary as a child process and holds it to the same
// promises, whatever a server, a file, a number, a signal or the system does to it: the
// process ends in time with an exit code of the table, without a Go trace; its peak
// memory is at most 300 MB above that of a clean run; nothing it prints has a raw control
// byte; no file and no line has the key; and what was recorded is in the store, which
// opens whole. See docs/reliability.md for what is promised.
//
// What happens to a child depends on its requests, as its server sees them, and not on
// the clock. All traffic stays on loopback, and every case has a limit on bytes and time.
//
//	go test ./internal/test/torture          the short form, as in make test
//	make torture                             the long form: each case alone, and more of them
//
// A finding names its case, says what was seen, and prints the command that repeats it alone.
package torture
