// Package answers decides whether a change of the server changed its answers.
//
// Engines do not repeat themselves: at a near tie between two tokens the batch, the cache or the
// kernel decides, and all that follows is another text. That an answer differs says little,
// therefore; how often it differs is compared with how often a restart alone makes it differ.
// The four legs of a block, with a server start each, sent the same requests:
//
//	     before  after  after  before          before a, b; after c, d
//
//	k=0  ab | cd     both pairs differ by a restart alone
//	k=1  ac | bd     both pairs differ by the change, too
//	k=2  ad | bc
//
// If the change does nothing the starts are exchangeable, and so are the three ways k to cut them
// into pairs. With D requests that differ within the pairs of k, of T tokens before the first
// difference or the end (an answer is at risk until it differs: its rest is censored),
//
//	w = ln((D + ½) / T)           logarithm of the hazard per token
//	S = (w₁ + w₂)/2 - w₀          of: across the change / of a restart
//	O = w₁ - w₂                   noise and nothing else
//	v = (Σ O²/2 + Σ (S - mean S)²/1.5) / (2n-1)
//	t = mean S / √(1.5 v/n)       2n-1 degrees of freedom over n blocks
//
// The unit is the server start and not the request: where each start chooses its kernels, all
// requests of two starts differ together. From three blocks on the exact test has to agree, which
// exchanges the ways of each block (3ⁿ) and assumes nothing else.
//
// Divergence does not see everything. Answers that break at random make the engine less
// repeatable, which compares the pairs of k=0 with each other; one broken answer in a hundred
// shows in the count of defects; and answers that end later in their lengths. All four are one
// family, corrected by Holm's method. docs/answers.md has the rates of false alarms and what is found.
package answers
