// Scroll positions by entry of the history, for going back. An entry of the history is known by a number in
// its state; one without is new and begins at its top.

const storage = 'pitot.scroll'
/** How long a page that is still being filled may grow to the height it had. */
const restoreTimeout = 3000

type Places = Record<string, number>

let current = ''

function read(): Places {
  try {
    return JSON.parse(sessionStorage.getItem(storage) ?? '{}') as Places
  } catch {
    return {}
  }
}

const places = read()

/** Take note of where a page is scrolled to, and leave going back to arrive(). The result ends it. */
export function followScrolling(): () => void {
  history.scrollRestoration = 'manual'
  const note = (): void => {
    if (current) places[current] = Math.round(scrollY)
  }
  const keep = (): void => {
    try {
      sessionStorage.setItem(storage, JSON.stringify(places))
    } catch {
      // it is forgotten with the page
    }
  }
  addEventListener('scroll', note, { passive: true })
  addEventListener('pagehide', keep)
  return () => {
    removeEventListener('scroll', note)
    removeEventListener('pagehide', keep)
  }
}

/** Scroll to where this entry of the history was left, or to the top of a new one. */
export function arrive(): void {
  const state = history.state as { pitot?: string } | null
  if (state?.pitot) {
    current = state.pitot
    restore(current, places[current] ?? 0, performance.now() + restoreTimeout)
    return
  }
  current = crypto.randomUUID?.() ?? String(Math.random())
  history.replaceState({ pitot: current }, '')
  scrollTo(0, 0)
}

// restore scrolls as soon as the page is high enough, unless the reader goes elsewhere before.
function restore(entry: string, y: number, until: number): void {
  if (entry !== current) return
  const high = document.documentElement.scrollHeight - innerHeight
  if (high >= y || performance.now() > until) {
    scrollTo(0, Math.min(y, high))
    return
  }
  requestAnimationFrame(() => restore(entry, y, until))
}
