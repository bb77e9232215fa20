// Package aliens has six simulated engines that are unlike package engine, for tests of what
// claims to find an engine from the outside: calibration, prediction, the search for a capacity.
// It shares nothing with package engine but the interface Model, and no command uses it.
//
//	            Padded                 Lagged                  Experts                  Timed
//	decoding    batch padded to the    grows with the root     grows until every        kernels of 32
//	            size of a captured     of the batch            expert of the model      sequences; attends
//	            graph                                          is read                  to 384 tokens
//	prompts     512 tokens beside      1024 beside decoding,   768 shared with          what keeps a step
//	            decoding, at most 4,   at most 2, in order     decoding, at most 4,     within 21 ms, 8 at
//	            in order                                       in equal parts           most, shortest first
//	mixed step  no graph; the longer   both, rounded           the root of the squares  added up
//	            of memory and
//	            computing, in tiles
//	admission   128 sequences          96, and prompt and      72; a prefix cache       110, every 12 ms
//	                                   answer reserved in
//	                                   90 000 tokens
//	scheduling  after each step        one step ahead          after each step          after each step
//	capacity    about 50 requests/s    about 37                about 25                 about 36
//
// The capacity is that for prompts of 400 and answers of 120 tokens on average. These four have one
// thread that takes requests in and gives tokens out in turn, skewed noise of steps, stalls and a
// pace that drifts by 3 % up and down in 40 s. So has Drafting, which emits several tokens in a step: of
// three drafts the first is accepted with a given probability, those behind it less often.
//
// Eager is an engine of its own. Its host launches a step before it hands out the tokens of the one
// before, at a speed that jumps; steps with prompts are bound by that launch. Its frontend is a
// queue of tasks, through which each request passes several times, and joins the tokens of streams when
// it is full.
//
// A test that expects a calibration to be exact here expects too much: none of these laws is one
// that package engine has.
package aliens
