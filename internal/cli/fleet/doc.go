// Package fleet is `pitot fleet`: workers on many machines that send the requests of one run, the
// server between them, and what they need to run in a cluster.
package fleet
