// Package scrape samples the /metrics of servers and exporters over HTTP.
//
//	GET /metrics ── exposition.Reader ─> samples ── rows.go ──> Pitot's names and units
//	   │                                   │
//	   └ middle of the exchange            └ own stamps ── skew.go ──> the run's clock
//
// What a foreign series is called here is data: a Row each, in rows_servers.go and
// rows_machines.go. Series without a Row are kept under their own names if a pattern says so.
//
// An Exporter has connections of its own, apart from those that are measured. It makes one
// request at a time: a server that answers slowly is asked less often, one that does not answer
// is asked again and again, up to 10 s apart.
//
// A page is read into the memory of the page before it, a sample at a time, and only what a row wants
// is made: during a run garbage is not collected.
//
// The instant of a value is the middle of the exchange that brought it, from before the request
// was written to the end of the answer, and off by half of that at most. Samples with stamps of
// their own are by another clock, which the Date header of each answer bounds (see skew).
package scrape
