// Package fleet tries a fleet of the program as shipped: a controller, workers and a NATS server, each
// a process of its own, against a server that stamps what it writes.
//
//	go test ./internal/test/fleet          the short form, as in make test
//	go test ./internal/test/fleet -long    more workers, more streams, every fault over both kinds of NATS server
package fleet
