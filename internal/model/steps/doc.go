// Package steps finds what an engine did, and what each piece of it cost, from the stamps
// of its clients alone.
//
// Tokens of one step leave the engine together, so their arrivals lie close to each other
// and apart from those of the next step. See groups them; a replay of the scheduler on that
// observed clock tells which prompts were computed in which step, though no token shows it;
// and a regression on the durations tells the costs:
//
//	arrivals ──see──> steps ──replay──> work of each step ──regress──> costs ──> noise
//	                            ^                              │
//	                            └── policy, budget, lag, delay ┘  the schedule that explains most
//
// Stamps must be finer than the gap between the tokens of a step and the next step: those of
// the kernel are. Miss says how much could not be seen.
package steps
