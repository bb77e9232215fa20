// Addresses of the page: #/runs?q=x, #/runs/ID, #/compare?run=A&run=B. What the page shows follows from
// the address alone, so it can be bookmarked, sent and gone back from.

export interface Route {
  /** The parts of the path: ["runs", "ID"]. */
  path: string[]
  query: URLSearchParams
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  return { path: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(query) }
}

// decode keeps a part that is not well formed as it is.
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const route: { value: Route } = $state({ value: read() })

addEventListener('hashchange', () => {
  route.value = read()
})

/** The address of a page. */
export function to(path: string[], query: Record<string, string | string[]> = {}): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== '') all.append(name, one)
  }
  const text = all.toString()
  return '#/' + path.map(encodeURIComponent).join('/') + (text ? '?' + text : '')
}

/** Go to a page; replace keeps it out of the history, as for each letter of a search. */
export function go(address: string, replace = false): void {
  if (!replace) {
    location.hash = address
    return
  }
  history.replaceState(history.state, '', address)
  route.value = read()
}
