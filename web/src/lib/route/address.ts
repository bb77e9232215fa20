// Addresses of the page: #/runs?q=x, #/runs/ID, #/compare?run=A&run=B. What the page shows follows from
// the address alone, so it can be bookmarked, sent and gone back from.

import type { Parameters } from '../net/api.ts'

export interface Route {
  /** The parts of the path: ["runs", "ID"]. */
  path: string[]
  query: URLSearchParams
}

/** Read the part after #. */
export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
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

/** The address of a page. */
export function to(path: string[], query: Parameters = {}): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [String(value)]) if (one !== '') all.append(name, one)
  }
  const text = all.toString()
  return '#/' + path.map(encodeURIComponent).join('/') + (text ? '?' + text : '')
}

/** Whether a path is of a pattern such as runs/: where : is a part that can be anything. */
export function matches(pattern: string, path: string[]): boolean {
  const parts = pattern.split('/')
  return parts.length === path.length && parts.every((part, i) => part === ':' || part === path[i])
}
