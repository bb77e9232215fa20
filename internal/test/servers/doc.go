// Package servers runs Pitot, as shipped, against real serving software: servers, routers
// and proxies that bench/servers/install.sh puts into a folder. `make servers` does both.
//
// What is asserted are counts, classes of failure, notes and exit codes, never latencies.
// Without the folder all is skipped.
package servers
