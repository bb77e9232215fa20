// The runs in progress.

import { SvelteMap } from 'svelte/reactivity'
import { onProgress } from '../net/events.ts'
import { nextRate, type Rates } from './rates.ts'
import { ask } from '../net/api.ts'
import type { Progress, Row, Runs } from '../net/types.ts'
import { lang } from '../text/words.svelte.ts'

const most = 20

export class RunningRuns {
  runs: Row[] = $state.raw([])
  progress = new SvelteMap<string, Progress>()
  /** Output throughput in the last minutes, by the id of a run. */
  rates = new SvelteMap<string, Rates>()
  private followed = ''
  private unfollow: () => void = () => {}

  /** reported is called with each report of progress. */
  constructor(private reported: (progress: Progress) => void) {}

  /** Ask which runs are in progress. */
  async look(): Promise<void> {
    try {
      const { rows } = await ask<Runs>('runs', { status: 'running', limit: most, lang: lang() })
      this.runs = rows
      this.follow(rows.map((row) => row.id))
    } catch {
      // the list of runs, which is asked for at the same time, says why
    }
  }

  end(): void {
    this.unfollow()
    this.followed = ''
  }

  private follow(ids: string[]): void {
    if (ids.join() === this.followed) return
    this.followed = ids.join()
    this.unfollow()
    this.unfollow = ids.length ? onProgress(ids, (progress) => this.take(progress), () => void this.look()) : () => {}
  }

  private take(progress: Progress): void {
    this.rates.set(progress.id, nextRate(this.rates.get(progress.id), progress))
    this.progress.set(progress.id, progress)
    this.reported(progress)
  }
}
