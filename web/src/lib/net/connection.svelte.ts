// Whether the server answers. Every request reports its outcome here (api.ts). While the server is gone it
// is asked every two seconds; pages that could not be filled are filled when it is back.

export type State = 'there' | 'gone' | 'refused'

const pause = 2000

class Connection {
  state: State = $state('there')
  /** Counts the times that the server came back: its readers ask again. */
  returned = $state(0)
  /** Counts the times that a page is to be made anew. */
  renewed = $state(0)
  private timer: ReturnType<typeof setTimeout> | undefined

  /** The server answered; 401 is a refusal of everything. */
  heard(status: number): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const was = this.state
    this.state = status === 401 ? 'refused' : 'there'
    if (was !== 'there' && this.state === 'there') this.returned++
  }

  /** The server did not answer. */
  lost(): void {
    this.state = 'gone'
    this.timer ??= setTimeout(() => void this.try(), pause)
  }

  /** Ask whether it is there. */
  async try(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    try {
      this.heard((await fetch('api/hello')).status)
    } catch {
      this.lost()
    }
  }

  /** Make the page that is shown anew. */
  renew(): void {
    this.renewed++
  }
}

export const connection = new Connection()
