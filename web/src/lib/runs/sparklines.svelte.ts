// Sparklines of the runs in view, in one request.

import { SvelteMap } from 'svelte/reactivity'
import { ask } from '../net/api.ts'
import type { Sparkline } from '../net/types.ts'

/** How long the reader may scroll on before they are asked for, in milliseconds. */
const pause = 80
const most = 50

export class Sparklines {
  /** The values by the id of a run; empty: it has none. */
  values = new SvelteMap<string, number[]>()
  private wanted: string[] = []
  private asked = new Set<string>()
  private timer: ReturnType<typeof setTimeout> | undefined

  /** Ask for those of some runs that are not known yet; the latest wish counts. */
  need(ids: string[]): void {
    this.wanted = ids.filter((id) => !this.values.has(id) && !this.asked.has(id))
    clearTimeout(this.timer)
    if (this.wanted.length) this.timer = setTimeout(() => void this.ask(this.wanted), pause)
  }

  /** Ask again for that of a run in progress. */
  renew(id: string): void {
    if (!this.asked.has(id)) void this.ask([id])
  }

  end(): void {
    clearTimeout(this.timer)
  }

  private async ask(ids: string[]): Promise<void> {
    for (const id of ids) this.asked.add(id)
    for (let at = 0; at < ids.length; at += most) {
      const some = ids.slice(at, at + most)
      try {
        const found = new Map((await ask<Sparkline[]>('sparks', { id: some })).map((one) => [one.id, one.values]))
        for (const id of some) this.values.set(id, found.get(id) ?? [])
      } catch {
        // a list is of use without them; they are asked for again when they come into view
      }
      for (const id of some) this.asked.delete(id)
    }
  }
}
