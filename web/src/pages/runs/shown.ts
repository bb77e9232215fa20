import type { Sparklines } from '../../lib/runs/sparklines.svelte.ts'
import type { Row } from '../../lib/net/types.ts'

/** The drawn rows of a list of runs, each of one height, and the actions on them. */
export interface Shown {
  /** Of the rows in view. */
  indices: number[]
  row: (index: number) => Row | undefined
  from: number
  to: number
  total: number
  /** In pixels. */
  height: number
  /** The row with the marker of the keyboard; -1: none. */
  at: number
  now: number
  chosen: ReadonlyMap<string, Row>
  sparks: Sparklines
  /** Select a run or no longer; all of them from the one before. */
  choose: (index: number, through: boolean) => void
  arrive: (index: number) => void
  edit: (row: Row) => void
}
