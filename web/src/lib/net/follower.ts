// Following the server by its events (api/events). A Follower holds one stream:
//
//	open ── the server goes away ──> the browser asks again ── open: missed
//	     ── refused ───────────────> missed every 2 s, and another try every 30 s
//	     ── the page is hidden ────> closed ── shown again ── open: missed
//
// missed is called where events may have been missed, so that the caller asks for the state.

/** The part of EventSource that a Follower uses. */
export interface Source {
  readonly readyState: number
  onopen: (() => void) | null
  onerror: (() => void) | null
  addEventListener(name: string, on: (event: { data: string }) => void): void
  close(): void
}

export interface Environment {
  open: (url: string) => Source
  hidden: () => boolean
  /** Call when the page is hidden or shown; the result ends it. */
  visibilityChanged: (on: () => void) => () => void
  /** The server was heard, or not. */
  heard: (there: boolean) => void
}

const pollEvery = 2000
const polls = 15 // until the stream is tried again
const closed = 2 // EventSource.CLOSED

export class Follower {
  private source: Source | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private complete = true // no event was missed
  private untilTried = 0
  private unturn: () => void
  private ended = false

  constructor(
    private url: string,
    private on: Record<string, (data: unknown) => void>,
    private missed: () => void,
    private around: Environment,
  ) {
    this.unturn = around.visibilityChanged(() => this.visibility())
    this.visibility()
  }

  /** Stop following. */
  end(): void {
    this.ended = true
    this.unturn()
    this.close()
  }

  private visibility(): void {
    if (!this.around.hidden()) this.open()
    else {
      this.close()
      this.complete = false
    }
  }

  private close(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.source?.close()
    this.source = null
  }

  private open(): void {
    this.close()
    const source = (this.source = this.around.open(this.url))
    source.onopen = () => {
      this.around.heard(true)
      if (!this.complete) this.missed()
      this.complete = true
    }
    source.onerror = () => {
      if (this.ended || source !== this.source) return
      this.complete = false
      if (source.readyState !== closed) this.around.heard(false)
      else this.refused()
    }
    for (const [name, on] of Object.entries(this.on)) source.addEventListener(name, (event) => on(JSON.parse(event.data)))
  }

  // refused polls instead of following, and tries the stream again from time to time.
  private refused(): void {
    this.close()
    this.untilTried = polls
    const ask = (): void => {
      this.missed()
      if (--this.untilTried > 0) this.timer = setTimeout(ask, pollEvery)
      else this.open()
    }
    this.timer = setTimeout(ask, pollEvery)
  }
}
