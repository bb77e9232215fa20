// Package traffic is Pitot's own workloads: traces of services with their times,
// conversations, lengths from distributions, mixes, and tenants.
package traffic
