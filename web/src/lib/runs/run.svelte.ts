// A run for its page: read once, and again while it is in progress.

import { onProgress } from '../net/events.ts'
import { AxisGroup, type Range } from '../chart/axisgroup.svelte.ts'
import { appended, decode, type Rows } from './rows.ts'
import { ask, askBytes, report } from '../net/api.ts'
import type { Course, Labels, Progress, Run } from '../net/types.ts'
import { lang } from '../text/words.svelte.ts'

/** Rows of one request: more than a chart can resolve, and a few megabytes. */
const mostRows = 200_000
/** How long a zoom has to stand before the requests of its window are asked for, in milliseconds. */
const settled = 250

const second = 1000
/** A run in progress without events for so long is asked for. */
const silent = 3 * second
/** How often a run that has ended without a verdict is asked for one, at most once a second. */
const patience = 20

export class WatchedRun {
  run: Run | null = $state.raw(null)
  course: Course | null = $state.raw(null)
  rows: Rows | null = $state.raw(null)
  /** The requests of the window that is shown, of a run of which rows has only each n-th. */
  part: Rows | null = $state.raw(null)
  progress: Progress | null = $state.raw(null)
  trouble: unknown = $state.raw(null)
  /** Why there are no charts, or no bars. */
  courseTrouble: unknown = $state.raw(null)
  rowsTrouble: unknown = $state.raw(null)
  /** The axis of time of all charts. */
  readonly time = new AxisGroup()
  readonly path: string

  #ended = new AbortController()
  #stop: (() => void) | null = null
  #asking = false
  #again = false
  #unjudged = 0

  constructor(readonly id: string) {
    this.path = 'runs/' + encodeURIComponent(id)
  }

  /** Whether the run is in progress. */
  get running(): boolean {
    return (this.progress?.status ?? this.run?.row.status) === 'running'
  }

  /** Whether there is more to come: of the run, or of the server's reading of it. */
  get unfinished(): boolean {
    const c = this.course
    return this.running || (c !== null && (c.running || c.read < c.records))
  }

  /** Ask for all of it, and go on as long as there is more. */
  async start(): Promise<void> {
    const course = this.#askCourse()
    try {
      this.run = await ask<Run>(this.path, { lang: lang() }, this.#ended.signal)
    } catch (e) {
      if (!this.#ended.signal.aborted) this.trouble = e
      return
    }
    await course
    await this.#askRows()
    if (this.unfinished && !report) this.#follow()
  }

  /** Take over tags and remark that were changed. */
  label(labels: Labels): void {
    if (this.run) this.run = { ...this.run, row: { ...this.run.row, ...labels } }
  }

  stop(): void {
    this.#ended.abort()
    this.#stop?.()
  }

  // follow listens to the events of a run in progress; a run that the server is still reading, and one
  // without events for a while, is asked for each second.
  #follow(): void {
    if (this.#ended.signal.aborted) return
    let heard = Date.now()
    const end = onProgress(
      [this.id],
      (progress) => {
        heard = Date.now()
        this.progress = progress
        void this.#refresh()
      },
      () => void this.#refresh(),
    )
    const timer = setInterval(() => {
      if (!document.hidden && (!this.running || Date.now() - heard > silent)) void this.#refresh()
    }, second)
    this.#stop = () => {
      end()
      clearInterval(timer)
    }
  }

  // refresh asks for new data. Ticks while it asks are one more round; a slow browser has fewer.
  async #refresh(): Promise<void> {
    if (this.#asking) {
      this.#again = true
      return
    }
    this.#asking = true
    try {
      const begun = performance.now()
      const was = this.running
      const [run] = await Promise.all([ask<Run>(this.path, { lang: lang() }, this.#ended.signal), this.#askCourse()])
      this.run = run
      if (run.row.status !== 'running') this.progress = null
      await this.#askRows()
      if (was && !this.running) this.rows = await this.#ask({ most: mostRows })
      // A run is stored as complete before it is judged: its verdict comes a moment later.
      const judged = run.row.validity !== '' || this.#unjudged++ >= patience
      if (!this.unfinished && judged) {
        this.#stop?.()
        return
      }
      // Once a second at most, and at most half of the time is spent on it.
      const spent = performance.now() - begun
      await new Promise((done) => setTimeout(done, Math.max(second - spent, spent)))
    } catch {
      // The server is gone, and the shell shows it; the next tick tries again.
    } finally {
      this.#asking = false
    }
    if (this.#again) {
      this.#again = false
      void this.#refresh()
    }
  }

  async #askCourse(): Promise<void> {
    try {
      const c = await ask<Course>(this.path + '/course', { lang: lang() }, this.#ended.signal)
      this.course = c
      this.courseTrouble = null
      if (c.seconds > 0) this.time.full = [0, c.seconds]
    } catch (e) {
      if (!this.#ended.signal.aborted) this.courseTrouble = e
    }
  }

  #ask(parameters: Record<string, number>): Promise<Rows> {
    return askBytes(this.path + '/rows', parameters, this.#ended.signal).then(decode)
  }

  // askRows asks for new rows. When the server thins them out more, or gives time in
  // another unit, they do not match the old ones, and all are asked for.
  async #askRows(): Promise<void> {
    const before = this.rows
    try {
      if (before && this.course && this.course.read <= before.header.next) return
      const found = await this.#ask(before ? { since: before.header.next, most: mostRows } : { most: mostRows })
      if (!before) this.rows = found
      else if (found.header.every !== before.header.every || found.header.unit !== before.header.unit) this.rows = await this.#ask({ most: mostRows })
      else this.rows = appended(before, found)
      this.rowsTrouble = null
    } catch (e) {
      if (!this.#ended.signal.aborted) this.rowsTrouble = e
    }
  }

  /** Ask for all requests of a window, if rows has not all of them. The result takes it back. */
  look(window: Range | null): () => void {
    const none = (): void => {}
    if (!window || report || !this.rows || this.rows.header.every === 1) return none
    const [from, until] = window
    const beside = (until - from) / 2 // so that panning finds something
    const timer = setTimeout(() => {
      this.#ask({ from: Math.max(0, from - beside), until: until + beside, most: mostRows })
        .then((part) => {
          if (part.header.every < this.rows!.header.every) this.part = part
        })
        .catch(none) // there is the overview
    }, settled)
    return () => clearTimeout(timer)
  }
}
