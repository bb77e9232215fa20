// An answer that is polled while its subject is in progress, and asked for again when the server reports
// a change.

const pause = 1000

export class Polled<T> {
  value: T | null = $state.raw(null)
  trouble: unknown = $state.raw(null)
  private timer: ReturnType<typeof setTimeout> | undefined
  private asked: AbortController | null = null
  private took = 0
  private ended = false

  /** request fetches the answer; pending reports of an answer that there will be another one. */
  constructor(
    private readonly request: (signal: AbortSignal) => Promise<T>,
    private readonly pending: (value: T) => boolean = () => false,
  ) {}

  /** Ask, and poll while it is pending; the answer that is shown stays until the next. */
  async start(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    this.asked?.abort()
    const mine = new AbortController()
    this.asked = mine
    const began = Date.now()
    try {
      const value = await this.request(mine.signal)
      if (mine.signal.aborted) return
      this.value = value
      this.trouble = null
    } catch (e) {
      if (mine.signal.aborted) return
      this.trouble = e
    }
    this.asked = null
    this.took = Date.now() - began
    if (this.value !== null && this.pending(this.value)) this.soon()
  }

  /** Ask again in a while; an answer that takes long is asked for less often. */
  soon(): void {
    if (this.timer !== undefined || this.asked || this.ended) return
    this.timer = setTimeout(() => {
      this.timer = undefined
      if (document.hidden) this.soon()
      else void this.start()
    }, Math.max(pause, 5 * this.took))
  }

  /** Stop asking. */
  end(): void {
    this.ended = true
    clearTimeout(this.timer)
    this.asked?.abort()
  }
}
