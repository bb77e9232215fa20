// The requests of a run as columns of numbers: the formats of internal/show/view/rows.go and pack.go.

import type { RowsHeader } from '../net/types.ts'

/** An instant that did not come. */
export const never = 0xffffffff

const columns = ['index', 'due', 'released', 'sent', 'first', 'last', 'done', 'prompt', 'output', 'class'] as const
type Column = (typeof columns)[number]

/** Requests in the order of the answer, a column for each property. Instants are in header.unit seconds. */
export type Rows = { header: RowsHeader } & Record<Column, Uint32Array>

/** Read the columns out of an answer; the arrays are views of its bytes, unless it is packed. */
export function decode(bytes: ArrayBuffer): Rows {
  const view = new DataView(bytes)
  if (bytes.byteLength >= 8 && view.getUint32(0) === 0x50545232) return unpack(bytes)
  if (bytes.byteLength < 8 || view.getUint32(0) !== 0x50545231) throw new Error('rows: the answer does not begin with PTR1')
  const length = view.getUint32(4, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as RowsHeader
  const begin = 8 + length
  if (begin + header.columns.length * header.n * 4 > bytes.byteLength) throw new Error('rows: the answer is cut short')
  const found = { header } as Rows
  for (const name of columns) {
    const at = header.columns.indexOf(name)
    found[name] = at < 0 ? new Uint32Array(header.n).fill(never) : new Uint32Array(bytes, begin + at * header.n * 4, header.n)
  }
  return found
}

// unpack reads the rows of a report (internal/show/view/pack.go).
function unpack(bytes: ArrayBuffer): Rows {
  const length = new DataView(bytes).getUint32(4, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as RowsHeader
  const packed = new Uint8Array(bytes, 8 + length)
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = packed[at++]
      if (byte === undefined) throw new Error('rows: the report is cut short')
      value += (byte & 127) * scale
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
  }
  const found = { header } as Rows
  for (const name of columns) found[name] = new Uint32Array(header.n).fill(never)
  let left = new Float64Array(header.n)
  for (const name of header.columns) {
    const column = new Float64Array(header.n)
    const fromLeft = followers.has(name)
    let before = 0
    for (let i = 0; i < header.n; i++) {
      before = varint() + (fromLeft ? left[i]! : before)
      column[i] = before
    }
    if (name in found) found[name as Column] = Uint32Array.from(column, (v) => (v === 0 ? never : v - 1))
    left = column
  }
  return found
}

// followers are the columns that are packed as differences from the column on their left.
const followers = new Set(['released', 'sent', 'first', 'last', 'done'])

/** Rows followed by later ones of a run in progress. */
export function appended(before: Rows | null, after: Rows): Rows {
  if (!before || before.header.n === 0) return after
  const n = before.header.n + after.header.n
  const all = { header: { ...after.header, n } } as Rows
  // A class is a number of a list that may differ from answer to answer.
  const classes = [...before.header.classes]
  const number = after.header.classes.map((name) => {
    if (!classes.includes(name)) classes.push(name)
    return classes.indexOf(name)
  })
  all.header.classes = classes
  for (const name of columns) {
    const column = (all[name] = new Uint32Array(n))
    column.set(before[name])
    column.set(name === 'class' ? after[name].map((c) => number[c] ?? c) : after[name], before.header.n)
  }
  return all
}
