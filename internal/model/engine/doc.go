// Package engine simulates a serving engine: it decides when each token leaves.
//
// A [Model] takes jobs and returns emissions: a number of tokens of a job, due at
// an instant. There are two. A [Latency] draws delays and knows no batches. A
// [Deployment] is the subject of this page: it simulates the steps of a real
// engine, and the delays follow from the jobs that share them.
//
//	         ┌──────────── replica, one of Replicas.Count behind a router ────────────┐
//	         │ ┌ frontend ┐          ┌ core ───────────────────────────────────┐      │
//	Job ────▶│ │ requests │─────────▶│ waiting ──admit──▶ running ──▶ finished │      │
//	         │ │          │  ┌ ─ ─ ┐ │    ◀──preempt──         ╎               │      │
//	Emission◀│ │  output  │◀─ link ──│ KV ▓▓▓▓▓▓▓▓░░░░    one step at a time   │      │
//	         │ └──────────┘  └ ─ ─ ┘ └─────────────────────────────────────────┘      │
//	         └────────────────────────────────────────────────────────────────────────┘
//
// # A step
//
// A core ([Core]) is always in one step, or idle. When a step begins, the policy
// divides it: a decoding sequence gets one token, a prompt all its tokens or a
// chunk of them. The memory for these tokens is allocated then. When the step ends,
// every sequence with its last known token computed emits the next one. The plan
// does not change in between: a new job waits for the next step, and a cancelled
// one leaves a gap.
//
//	step 1  ▒▒▒▒ prompt of A ▒▒▒▒        A emits 1
//	step 2  a ▒▒▒ prompt of B, cut ▒▒▒   A emits 2
//	step 3  a ▒ rest of B ▒              A emits 3, B emits 1
//	step 4  a b                          A emits 4, B emits 2
//
// The policy is vllm (one budget, running sequences first; preemption by
// recomputation), sglang (prompts first; memory reserved by a ratio; retraction) or
// static (a batch runs until its last sequence is done). A policy that follows the
// code of another server cites its version and file.
//
// The duration of a step is a sum of coefficients times its work: a constant,
// sequences, context, prompt tokens and pairs of them, images, blocks and pages.
// The formula is that of [Costs]. Tables can replace its two main lines, and steps
// with prompts can have a table of their own. The coefficients represent the
// machine and the model; nothing else is known of either.
//
// # Mechanisms
//
//   - KV cache: blocks of tokens. A limit causes waiting, preemption, and
//     recomputed prompts.
//   - Prefix cache: full blocks of prompts are reused, by the hash of all tokens up
//     to their end; the least recently used are evicted first. They are known from
//     the moment they are scheduled.
//   - Elastic: pages are mapped as blocks need them, at a cost.
//   - Frontend: work on requests and on output. Waiting output is merged, so
//     a chunk may hold several tokens. A blocking frontend has one worker for
//     both, so prompts slow down the streams of others. One that is an event loop
//     does all work in iterations, through which requests pass several times.
//   - Images: an encoder budget cuts a chunk before an image.
//   - Speculative: a step drafts tokens and verifies them. Those accepted in a row
//     are emitted with the one that is certain. Each is a random draw.
//   - LoRA: slots for adapters, and the time to load one.
//   - Disaggregation: cores that prefill, and a link to the one that decodes. The
//     first token comes with the transfer.
//   - Replicas: servers behind a router.
//   - Cold and Jitter: the first prompt is slow, and every step varies. Some, the
//     SlowSteps, take much longer.
//   - Async: a step is planned while the one before it runs, without the requests
//     that come meanwhile. With costs of launching, the host also launches it before
//     it hands out the tokens of the one before.
//   - Host: launches take longer by a factor that jumps between levels.
//   - Pace: a factor on all steps, of which a part is drawn at the start and a part
//     changes with time.
//   - Stalls: times in which no step proceeds.
//
// # Time
//
// The model has no clock and no goroutines. All instants come from the caller, and
// may be real or simulated: [Deployment.Step] advances to now, and emissions carry
// the instants at which they were due. A live server sleeps until
// [Deployment.Next]; a prediction calls [Deployment.Run], which advances as fast as
// the processor allows. The same jobs at the same instants, and the same seed, give
// the same emissions, in one Step or in a thousand.
//
// # Left out
//
// There are no operators, kernels or parallelism: the coefficients include their
// cost. There is no time between steps: the constant includes it. Only prompts are
// cached, not answers. With Async only admission and output lag: a step that is planned
// ahead knows which sequences have finished.
// Link and cores never fail; requests have no timeout. The caller must refuse a job
// longer than [Config.Context].
package engine
