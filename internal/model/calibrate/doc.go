// Package calibrate compares a profile with measured runs of the deployment that it
// describes.
//
// A note with a table gives the totals of a run and its latencies, but not its
// requests. So the requests are drawn many times, from the distributions in the
// profile and with the totals of the note; each draw is run in virtual time; and
// the figures, by the definitions of the tool that wrote the note, are compared
// with the measured ones:
//
//	laws, totals ──draw n──> requests ──sim, engine──> trace ──metrics──> figures
//	                                                                         │
//	measured table ────────────────────────────────────── error of the median┘
//
// Draws are numbered. [Fit] adjusts a profile's numbers on the draws from
// [FitDraws] on, [Compare] reports on others, so that no profile is judged on the
// requests it was fitted to. The variation between draws is reported too: no model
// could do better on unknown requests.
//
// # Steps
//
// FitSteps finds the steps of an engine, and the cost of each piece of work, from the stamps of its
// clients alone.
//
// Tokens of one step leave the engine together, so their arrivals are closer to each other
// than to those of the next step. See groups them; a replay of the scheduler on that
// observed clock tells which prompts were computed in which step, though no token shows it;
// and a regression on the durations gives the costs:
//
//	arrivals ──see──> steps ──replay──> work of each step ──regress──> costs ──> noise
//	                            ^                              │
//	                            └── policy, budget, lag, delay ┘  the schedule that explains most
//
// Stamps must be finer than the gap between the tokens of a step and the next step: those of
// the kernel are. Miss is the share that could not be seen.
package calibrate
