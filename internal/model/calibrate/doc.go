// Package calibrate holds a profile against runs that were measured on what it
// stands for.
//
// A note with a table tells the totals of a run and its latencies, but not its
// requests. So the requests are drawn, from the laws that the profile states for
// them and with the totals of the note, many times over; each draw is run in
// virtual time; and the figures, by the definitions of the tool that wrote the
// note, are compared with what it says:
//
//	laws, totals ──draw n──> requests ──sim, engine──> trace ──metrics──> figures
//	                                                                         │
//	measured table ────────────────────────────────────── error of the median┘
//
// Draws are numbered. [Fit] adjusts a profile's numbers on the draws from
// [FitDraws] on, [Compare] reports on others, so that no profile is praised for
// the requests it was fitted to. How much the draws differ is told beside: no
// model could do better than that on requests it does not know.
package calibrate
