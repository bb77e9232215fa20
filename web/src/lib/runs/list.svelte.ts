// The list of runs as far as it has been asked for.

import { toParameters, type RunsQuery } from '../route/runs.ts'
import { ask } from '../net/api.ts'
import type { Row, Runs } from '../net/types.ts'
import { indexOf, rowAt, windowsOf, type Range } from './windows.ts'
import { lang } from '../text/words.svelte.ts'

/** Rows of one request. */
export const size = 200

export class RunList {
  /** The latest answer, for its totals and its choices. */
  latest: Runs | null = $state.raw(null)
  trouble: unknown = $state.raw(null)
  private windows: ReadonlyMap<number, Row[]> = $state.raw(new Map())
  private query: RunsQuery | null = null
  private asked = new Map<number, AbortController>()

  get total(): number {
    return this.latest?.total ?? 0
  }

  /** The run at an index; undefined: it has not been answered yet. */
  row(index: number): Row | undefined {
    return rowAt(this.windows, size, index)
  }

  /** The index of a run; -1: it is not among those answered. */
  indexOf(id: string): number {
    return indexOf(this.windows, (row) => row.id === id)
  }

  /** Show the runs of a query. The old rows stay until the answer is there. */
  async show(query: RunsQuery): Promise<void> {
    this.query = query
    await this.renew({ from: 0, to: 1 })
  }

  /**
   * Ask again for the rows of a range; what else was answered is forgotten. Just before the answer
   * is shown, changing is called.
   */
  async renew(range: Range, changing: () => void = () => {}): Promise<void> {
    for (const one of this.asked.values()) one.abort()
    this.asked.clear()
    try {
      const answers = await Promise.all(windowsOf(range, size).map((offset) => this.ask(offset)))
      if (answers.includes(null)) return // another question came between
      changing()
      this.trouble = null
      this.latest = answers[0] ?? this.latest
      this.windows = new Map(answers.map((answer) => [answer!.offset, answer!.rows]))
    } catch (e) {
      this.trouble = e
    }
  }

  /** Ask for those rows of a range that are not there yet. */
  need(range: Range): void {
    for (const offset of windowsOf(range, size)) {
      if (this.windows.has(offset) || this.asked.has(offset)) continue
      this.ask(offset).then(
        (answer) => {
          if (answer) this.windows = new Map(this.windows).set(offset, answer.rows)
        },
        (e: unknown) => (this.trouble = e),
      )
    }
  }

  /** Change a row that is shown, as after its tags were written. */
  change(id: string, part: Partial<Row>): void {
    this.windows = new Map(
      [...this.windows].map(([offset, rows]) => [offset, rows.map((row) => (row.id === id ? { ...row, ...part } : row))]),
    )
  }

  /** Stop asking. */
  end(): void {
    for (const one of this.asked.values()) one.abort()
    this.asked.clear()
  }

  // ask asks for one window; null: the question was overtaken by another.
  private async ask(offset: number): Promise<Runs | null> {
    const mine = new AbortController()
    this.asked.set(offset, mine)
    try {
      const answer = await ask<Runs>('runs', { ...toParameters(this.query!), offset, limit: size, lang: lang() }, mine.signal)
      return mine.signal.aborted ? null : answer
    } catch (e) {
      if (mine.signal.aborted) return null
      throw e
    } finally {
      if (this.asked.get(offset) === mine) this.asked.delete(offset)
    }
  }
}
