// A question whose parameters change while the page is shown: the last answer stays until the next has
// come, and a question that nobody wants answered any more is called off.

import { ask } from './api.ts'
import type { Parameters } from '../route/comparison.ts'

export class Asking<T> {
  answer: T | null = $state.raw(null)
  trouble: unknown = $state(null)
  waiting = $state(false)
  private latest: AbortController | null = null

  /** Ask; without a path there is nothing to ask. */
  async ask(path: string, parameters: Parameters): Promise<void> {
    this.latest?.abort()
    if (!path) return this.stop()
    const own = (this.latest = new AbortController())
    this.waiting = true
    try {
      const answer = await ask<T>(path, parameters, own.signal)
      if (own.signal.aborted) return
      this.answer = answer
      this.trouble = null
    } catch (e) {
      if (own.signal.aborted) return
      this.trouble = e
    }
    this.waiting = false
  }

  /** Call off what is asked, and forget what was answered. */
  stop(): void {
    this.latest?.abort()
    this.latest = null
    this.waiting = false
    this.answer = null
    this.trouble = null
  }
}
