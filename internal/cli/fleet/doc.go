// Package fleet is `pitot fleet`: workers on many machines that send the requests of one run, the
// server between them, and what they need to run in a cluster. Other commands have a Link from it: a
// connection to a server, from which each run gets its workers, or a server and workers on this machine
// that live as long as the command.
//
// A worker process on this machine is held by the process that started it: it ends when that one
// does, however it ends. It has the token in its environment and not on its command line, which every
// user of the machine can read.
package fleet
