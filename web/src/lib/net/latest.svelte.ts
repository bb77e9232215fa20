// The latest answer to a request with parameters that change while the page is shown. The last answer stays
// until the next arrives; a request that is out of date is aborted.

import { ask, type Parameters } from './api.ts'

export class Latest<T> {
  answer: T | null = $state.raw(null)
  trouble: unknown = $state(null)
  waiting = $state(false)
  private latest: AbortController | null = null

  /** Send a request; an empty path only stops the last. */
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

  /** Abort the request, and drop the answer. */
  stop(): void {
    this.latest?.abort()
    this.latest = null
    this.waiting = false
    this.answer = null
    this.trouble = null
  }
}
