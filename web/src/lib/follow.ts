// A run that goes on, followed by the events of the server, or by asking each second where there are none.

import { address } from './source.ts'
import type { Progress } from './types.ts'

/** What stands for the progress of a run that has to be asked for. */
export interface Tick {
  progress: Progress | null
}

const second = 1000

/**
 * Calls tick whenever the run may have come further, about once a second, until the result is called.
 * Without events for three seconds it ticks by itself.
 */
export function follow(id: string, tick: (t: Tick) => void): () => void {
  let heard = Date.now()
  const source = typeof EventSource === 'undefined' ? null : new EventSource(address('events', { run: id }))
  source?.addEventListener('progress', (e) => {
    heard = Date.now()
    tick({ progress: JSON.parse((e as MessageEvent<string>).data) as Progress })
  })
  // A server without events refuses once; the browser tries again only where the connection broke.
  const timer = setInterval(() => {
    if (source?.readyState === EventSource.CLOSED || !source || Date.now() - heard > 3 * second) tick({ progress: null })
  }, second)
  return () => {
    clearInterval(timer)
    source?.close()
  }
}
