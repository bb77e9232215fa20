// Events of the server, for pages:
//
//	onMount(() => onRuns((changes) => ..., again))
//	onMount(() => onProgress(['ID'], (progress) => ..., again))
//
// Both return a function that ends them. again is called where events may have been missed (follower.ts).
// A browser opens six connections to a server at most: a page has few streams.

import { connection } from './connection.svelte.ts'
import { Follower, type Environment, type Source } from './follower.ts'
import { address, report } from './api.ts'
import type { Changes, Progress } from './types.ts'

const browser: Environment = {
  open: (url) => new EventSource(url) as unknown as Source,
  hidden: () => document.hidden,
  visibilityChanged: (on) => {
    document.addEventListener('visibilitychange', on)
    return () => document.removeEventListener('visibilitychange', on)
  },
  heard: (there) => (there ? connection.heard(200) : connection.lost()),
}

function follow(parameters: Record<string, string[]>, on: Record<string, (data: unknown) => void>, again: () => void): () => void {
  if (report) return () => {}
  const follower = new Follower(address('events', parameters), on, again, browser)
  return () => follower.end()
}

/** Follow the list of runs. */
export function onRuns(changed: (changes: Changes) => void, again: () => void): () => void {
  return follow({}, { runs: (data) => changed(data as Changes) }, again)
}

/** Follow runs that go on, by their ids: at most 50. */
export function onProgress(ids: string[], on: (progress: Progress) => void, again: () => void): () => void {
  return follow({ run: ids }, { progress: (data) => on(data as Progress) }, again)
}
