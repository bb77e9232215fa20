import { never } from '../rows.ts'

const columns = ['index', 'due', 'released', 'sent', 'first', 'last', 'done', 'prompt', 'output', 'class']

/** Requests in the format of the server, in milliseconds. */
export function encode(requests: Record<string, number>[], classes = ['', 'timeout']): ArrayBuffer {
  const header = { n: requests.length, every: 1, unit: 0.001, next: requests.length, columns, classes }
  let json = JSON.stringify(header)
  while ((8 + json.length) % 4) json += ' '
  const bytes = new ArrayBuffer(8 + json.length + columns.length * requests.length * 4)
  new Uint8Array(bytes).set(new TextEncoder().encode('PTR1'))
  const view = new DataView(bytes)
  view.setUint32(4, json.length, true)
  new Uint8Array(bytes).set(new TextEncoder().encode(json), 8)
  columns.forEach((name, c) =>
    requests.forEach((r, i) => view.setUint32(8 + json.length + (c * requests.length + i) * 4, r[name] ?? (name === 'class' ? 0 : never), true)),
  )
  return bytes
}

/** A request with its instants. */
export const request = (due: number, sent: number, first: number, done: number, more = {}) => ({ index: 0, due, released: sent, sent, first, last: done, done, ...more })
