// An answer that is asked for again while what it tells of goes on.

const pause = 1000

export class Answer<T> {
  value: T | null = $state.raw(null)
  trouble: unknown = $state.raw(null)
  private timer: ReturnType<typeof setTimeout> | undefined
  private asked: AbortController | null = null

  /** question asks; going says of an answer that there will be another one. */
  constructor(
    private readonly question: (signal: AbortSignal) => Promise<T>,
    private readonly going: (value: T) => boolean = () => false,
  ) {}

  /** Ask, and go on while it goes on; the answer that is shown stays until the next. */
  async start(): Promise<void> {
    this.end()
    const mine = new AbortController()
    this.asked = mine
    const began = Date.now()
    try {
      const value = await this.question(mine.signal)
      if (mine.signal.aborted) return
      this.value = value
      this.trouble = null
    } catch (e) {
      if (mine.signal.aborted) return
      this.trouble = e
    }
    // An answer that takes long is asked for less often.
    if (this.value !== null && this.going(this.value)) {
      this.timer = setTimeout(() => void this.start(), Math.max(pause, 5 * (Date.now() - began)))
    }
  }

  /** Stop asking. */
  end(): void {
    clearTimeout(this.timer)
    this.asked?.abort()
  }
}
