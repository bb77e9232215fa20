// Package resources derives from telemetry the costs and limits of a run: energy, use of the KV
// cache, queues in the server, busy devices, throttled clocks.
//
// All of it is over a window, from the first request to the last answer. A quantity without
// samples in the window is nil or absent, never 0.
//
// Energy is that of an energy counter where a device has one, else the integral of its power by
// trapezoids; the first sample holds from the start, and the last one to the end, where they are
// close. Between two samples more than 3 s apart nothing is known; if that is more than a
// hundredth of the window, or the window is shorter than 30 s, there is no energy: the power that
// drivers report is an average that lags by up to a second. Where the power before the run was
// sampled for at least 5 s, with nothing to do, there is the energy above idle, too. A part of a
// card that reports no power counts with the part that does.
package resources
