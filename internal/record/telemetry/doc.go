// Package telemetry is what was sampled beside a run: what servers, devices and hosts said of
// themselves while requests were in flight.
//
//	Source    who was asked, how, and how far its instants may be off
//	Series    one quantity of a source: a name, labels, a unit
//	Point     its value at an instant of the run
//
// A quantity that Pitot knows has Pitot's name and an SI unit, whoever reports it (see Names),
// so that a figure or a plot need not know which server, exporter or program it came from. Any
// other quantity can be kept under its own name.
//
// Unknown is the absence of a point, never 0: a device that does not report its power has no
// series of that name, and a source that fails leaves a gap.
//
// The package holds samples and does not take any: package run/collect does.
package telemetry
