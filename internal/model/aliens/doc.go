// Package aliens has three simulated engines that are unlike package engine, for tests of what
// claims to find an engine from the outside: calibration, prediction, the search for a capacity.
// It shares nothing with package engine but the interface Model, and no command uses it.
//
//	            Padded                       Lagged                     Experts
//	decoding    batch padded to the size     grows with the root of     grows until every expert
//	            of a captured graph          the batch                  of the model is read
//	prompts     512 tokens beside decoding,  1024 beside decoding,      768 shared with decoding,
//	            at most 4, in order          at most 2, in order        at most 4, in equal parts
//	mixed step  no graph; the longer of memory and computing, in tiles  both, rounded
//	admission   128 sequences                96, and prompt and answer  72 sequences; a prefix
//	                                         reserved in 90 000 tokens  cache
//	scheduling  after each step              one step ahead             after each step
//	capacity    about 50 requests/s          about 37                   about 25
//
// The capacity is that for prompts of 400 and answers of 120 tokens on average. All have one
// thread that takes requests in and gives tokens out in turn, skewed noise of steps, stalls and a
// pace that drifts by 3 % up and down in 40 s.
//
// A test that expects a calibration to be exact here expects too much: none of these laws is one
// that package engine has.
package aliens
