// Package resources derives from telemetry the costs and limits of a run: energy, use of the KV
// cache, queues in the server, busy devices, throttled clocks.
//
// All of it is over a window, from the first request to the last answer. A quantity without
// samples in the window is nil or absent, never 0.
//
// Energy is that of an energy counter where a device has one, else that of its power. Power that a driver reports as the
// mean of a second counts for that second (means.go), and the energy has an error, which a replay of a log of an H200
// gave. Other power is integrated by trapezoids in windows of 30 s or more, since its instants are not known, nor is the
// error: the first sample holds from the start, and the last one to the end, where they are close. Between two samples
// more than 3 s apart nothing is known; if that is more than a hundredth of the window, there is no energy. Where the
// power before the run was sampled for at least 5 s, with nothing to do, there is the energy above idle, too. A part of a
// card that reports no power counts with the part that does.
package resources
