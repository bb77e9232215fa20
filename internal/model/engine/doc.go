// Package engine decides when each token leaves a serving engine that is not
// there.
//
// A [Model] takes jobs and gives back emissions: so many tokens of that job, due
// at this instant. There are two. A [Latency] draws delays and knows of no
// batch. A [Deployment] is the subject of this page: it goes through the steps of
// a real engine, and the delays follow from who shares them.
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
// A core ([Core]) is always in one step, or idle. When a step begins, the
// policy shares it out: a sequence that decodes gets one token, a prompt all or a
// chunk of it. The memory for these tokens is taken then. When the step ends,
// every sequence whose last known token went through the model emits the next
// one. What was planned is not changed in between: a job that comes waits for the
// next step, and one that is cancelled leaves a gap.
//
//	step 1  ▒▒▒▒ prompt of A ▒▒▒▒        A emits 1
//	step 2  a ▒▒▒ prompt of B, cut ▒▒▒   A emits 2
//	step 3  a ▒ rest of B ▒              A emits 3, B emits 1
//	step 4  a b                          A emits 4, B emits 2
//
// The policy is vllm (one budget, running sequences first; preemption by
// computing again), sglang (prompts first; memory reserved by a ratio;
// retraction) or static (a batch until its last sequence is done). Where the text
// of another server decides, its version and file stand with the policy.
//
// A step takes a sum of coefficients times its work: a constant, sequences,
// context, prompt tokens and pairs of them, images, blocks and pages. The formula
// is that of [Costs]. Tables can replace its two main lines. The coefficients are
// the machine and the model; nothing else is known of either.
//
// # What each mechanism adds
//
//   - KV cache: blocks of tokens. With a limit there is waiting, preemption, and
//     prompts that are computed twice.
//   - Prefix cache: full blocks of prompts are found again, under the hash of all
//     up to their end; the least recently used go first. They are known from the
//     moment that they are scheduled.
//   - Elastic: pages are mapped as blocks come to need them, at a cost.
//   - Frontend: work on requests and on output. Output that waits is merged, so
//     that a chunk may hold several tokens. A blocking frontend has one worker for
//     both, and makes prompts slow down the streams of others.
//   - Images: an encoder budget cuts a chunk ahead of an image.
//   - Speculative: a step drafts tokens and verifies them. Those accepted in a row
//     are emitted with the one that is certain. Each is a draw.
//   - LoRA: slots for adapters, and the time to load one.
//   - Disaggregation: cores that prefill, and a link to the one that decodes. The
//     first token comes with the transfer.
//   - Replicas: whole servers behind a router.
//   - Cold and Jitter: the first prompt is slow, and every step varies.
//
// # Time
//
// The model has no clock and no goroutines. All instants come from the caller,
// and it does not matter whether they are those of the wall or of a
// simulation: [Deployment.Step] goes on until now, and emissions carry the
// instants they were due at. A live server sleeps until [Deployment.Next]; a
// prediction calls [Deployment.Run], which goes as fast as the processor
// does. The same jobs at the same instants, and the same seed, give the same
// emissions, in one Step or in a thousand.
//
// # Left out
//
// No operators, kernels or parallelism: what they cost is in the coefficients.
// No time between steps: it is in the constant. Answers are not cached, only
// prompts. A step does not overlap with the scheduling of the next. Link and
// cores fail never; a request does not time out. A job longer than
// [Config.Context] is for the caller to refuse.
package engine
