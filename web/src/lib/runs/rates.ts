// Output throughput from the tokens counted at successive instants.

import type { Progress } from '../net/types.ts'

export interface Rates {
  /** Tokens per second, the latest last. */
  values: number[]
  at: number
  tokens: number
}

const most = 60
/** Seconds between two values at least: the store is written four times a second. */
const least = 0.9

/** The rates after a report of progress. */
export function nextRate(before: Rates | undefined, progress: Progress): Rates {
  const { at, tokens } = progress
  if (at === null) return before ?? { values: [], at: 0, tokens: 0 }
  if (!before) return { values: [], at, tokens }
  if (at - before.at < least) return before
  const values = [...before.values, Math.max(0, (tokens - before.tokens) / (at - before.at))]
  return { values: values.slice(-most), at, tokens }
}
