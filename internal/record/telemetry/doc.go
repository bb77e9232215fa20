// Package telemetry holds the samples taken during a run: quantities that servers, devices and
// hosts reported while requests were in flight.
//
//	Source    a server, device or host, how it was read, and how far its instants may be off
//	Series    one quantity of a source: a name, labels, a unit
//	Point     its value at an instant of the run
//
// A quantity that Pitot knows has Pitot's name and an SI unit, from any source (see Names), so
// that a figure or a plot need not know which server, exporter or program it came from. Any
// other quantity is stored under its own name.
//
// Unknown is the absence of a point, never 0: a device that does not report its power has no
// series of that name, and a source that fails leaves a gap.
//
// # How samples are stored
//
// Blocks encodes the series of a source over a span of time in columns, without loss: instants to
// the nanosecond, values to the bit.
//
//	instants    once for all series that were read together, or as a bit for each where a series
//	            lacks some: the first, and what each interval has more than the median
//	values      as integers of the smallest power of ten that makes all of them integers: the first,
//	            and what each difference has more than the median. Where no power of ten up to
//	            10^9 does: the bits of each and the one before, xored
//	numbers     in units of their greatest common divisor, the lowest byte of all of them, then
//	            the next byte of all
//	a block     compressed with DEFLATE, with a checksum
//
// An hour of 25 series of a server, a GPU and a host at 1 s takes 1.2 bytes a sample; a constant one
// nearly nothing, power to 10 mW 1.7, CPU time to 10 ms 0.8, and a share such as KV use, which is a
// binary fraction without pattern, 6.5 (BenchmarkBlocks, TestASampleTakesTwoBytes).
//
// The package holds samples and does not take any: package run/collect does.
package telemetry
