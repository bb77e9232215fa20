// Requests as bars over time: the row of each, the bars that a window of time shows, and a grid of
// cells where there are more bars than pixels.

import { never, type Rows } from '../runs/rows.ts'

/** The phases of a bar. A request that failed has one, of the colour of failures, after the wait. */
export const phases = ['gate', 'prefill', 'decode', 'failed'] as const

/** Bars of requests, sorted by when they begin. Instants are in seconds since the start of the run. */
export interface Bars {
  n: number
  /** The place of the bar in the columns of Rows. */
  place: Uint32Array
  /** It waits for the gate from here, */
  from: Float64Array
  /** was sent here, */
  sent: Float64Array
  /** has its first token here: the end of prefill; NaN if it has none, */
  first: Float64Array
  /** and ends here. */
  until: Float64Array
  failed: Uint8Array
  /** The row of each, as few as possible so that none overlap. */
  lane: Uint32Array
  lanes: number
  /** latest[i] is the largest until of bars 0 to i: a bar that begins before a window may reach into it. */
  latest: Float64Array
}

/** More bars than this are not drawn at once: an instant and a number below 2^20 fit into a float64. */
const places = 2 ** 20

/** Bars of requests; of a request that was never sent there is its wait. */
export function bars(rows: Rows): Bars {
  const { n, unit } = rows.header
  const begin = new Float64Array(n)
  const end = new Float64Array(n)
  let count = 0
  // Where a bar begins and its number as one number: sorted without a comparison for each pair.
  const order = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    const from = earliest(rows.due[i]!, rows.released[i]!, rows.sent[i]!)
    if (from === never) continue
    begin[i] = from
    end[i] = Math.max(from, known(rows.done[i]!), known(rows.last[i]!), known(rows.sent[i]!))
    order[count++] = from * places + i
  }
  const place = Uint32Array.from(order.subarray(0, count).sort(), (v) => v % places)
  const float = () => new Float64Array(count)
  const all: Bars = {
    n: count, place, from: float(), sent: float(), first: float(), until: float(), failed: new Uint8Array(count),
    lane: new Uint32Array(count), lanes: 0, latest: float(),
  }
  let latest = -Infinity
  for (let k = 0; k < count; k++) {
    const i = place[k]!
    all.from[k] = begin[i]! * unit
    all.until[k] = end[i]! * unit
    all.sent[k] = rows.sent[i] === never ? all.until[k]! : rows.sent[i]! * unit
    all.first[k] = rows.first[i] === never ? NaN : rows.first[i]! * unit
    all.failed[k] = rows.class[i] === 0 || rows.class[i] === never ? 0 : 1
    all.latest[k] = latest = Math.max(latest, all.until[k]!)
  }
  all.lanes = pack(all)
  return all
}

function earliest(...instants: number[]): number {
  return Math.min(...instants) // never is the largest
}

function known(instant: number): number {
  return instant === never ? -1 : instant
}

// pack gives each bar the lowest row that is free when it begins, and returns how many rows there are.
function pack(b: Bars): number {
  const busy = new Heap((x, y) => b.until[x]! - b.until[y]!)
  const free = new Heap((x, y) => x - y)
  let lanes = 0
  for (let k = 0; k < b.n; k++) {
    while (busy.size && b.until[busy.top]! <= b.from[k]!) free.push(b.lane[busy.pop()]!)
    b.lane[k] = free.size ? free.pop() : lanes++
    busy.push(k)
  }
  return lanes
}

// A Heap has the least of its numbers on top.
class Heap {
  readonly #items: number[] = []
  readonly #compare: (a: number, b: number) => number
  constructor(compare: (a: number, b: number) => number) {
    this.#compare = compare
  }
  get size(): number {
    return this.#items.length
  }
  get top(): number {
    return this.#items[0]!
  }
  push(item: number): void {
    const a = this.#items
    let i = a.push(item) - 1
    for (let up = (i - 1) >> 1; i > 0 && this.#compare(a[i]!, a[up]!) < 0; up = (i - 1) >> 1) {
      ;[a[i], a[up]] = [a[up]!, a[i]!]
      i = up
    }
  }
  pop(): number {
    const a = this.#items
    const top = a[0]!
    const last = a.pop()!
    if (a.length === 0) return top
    a[0] = last
    for (let i = 0; ; ) {
      const left = 2 * i + 1
      if (left >= a.length) break
      const child = left + 1 < a.length && this.#compare(a[left + 1]!, a[left]!) < 0 ? left + 1 : left
      if (this.#compare(a[child]!, a[i]!) >= 0) break
      ;[a[i], a[child]] = [a[child]!, a[i]!]
      i = child
    }
    return top
  }
}

/** The bars that can reach into a window of time: from the first to before the second number. */
export function within(b: Bars, from: number, until: number): [number, number] {
  return [lowest(b.n, (k) => b.latest[k]! >= from), lowest(b.n, (k) => b.from[k]! > until)]
}

// lowest is the least number below n for which is() holds, as for all above it; n if there is none.
function lowest(n: number, is: (k: number) => boolean): number {
  let [low, high] = [0, n]
  while (low < high) {
    const middle = (low + high) >> 1
    if (is(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** The visible part of a picture of bars: a window of time and of rows. */
export interface View {
  from: number
  until: number
  /** Rows, which need not be whole numbers at the ends. */
  top: number
  bottom: number
  /** Whether rows are those into which bars are packed; else each bar has its own. */
  packed: boolean
}

/**
 * How much of each cell of a grid each phase fills, in bars: cover[phase] has width × height numbers.
 * Where a cell is wider than a bar is long, the bar counts for its share of the cell, so that the mix
 * of colours is the mix of times. failed marks cells with a failure however short it is.
 */
export class Grid {
  width = 0
  height = 0
  readonly cover: [Float32Array, Float32Array, Float32Array]
  failed = new Uint8Array(0)

  constructor() {
    this.cover = [new Float32Array(0), new Float32Array(0), new Float32Array(0)]
  }

  /** Fill the grid, reusing its memory; returns the number of bars drawn. */
  draw(b: Bars, v: View, width: number, height: number): number {
    this.#size(width, height)
    const [first, end] = within(b, v.from, v.until)
    const xScale = width / (v.until - v.from)
    const yScale = height / (v.bottom - v.top)
    const [gate, prefill, decode] = this.cover
    let drawn = 0
    for (let k = first; k < end; k++) {
      if (b.until[k]! < v.from) continue
      const row = v.packed ? b.lane[k]! : k
      if (row + 1 <= v.top || row >= v.bottom) continue
      // A row that is higher than a cell fills all of its cells.
      const y0 = Math.max(0, Math.floor((row - v.top) * yScale))
      const y1 = Math.min(height, Math.max(y0 + 1, Math.floor((row + 1 - v.top) * yScale)))
      const x = (at: number) => (at - v.from) * xScale
      const [from, sent, until] = [x(b.from[k]!), x(b.sent[k]!), x(b.until[k]!)]
      for (let y = y0; y < y1; y++) {
        const base = y * (width + 2)
        this.#add(gate, base, from, sent)
        if (b.failed[k]) {
          this.#mark(y * width, sent, until)
          continue
        }
        const token = Number.isNaN(b.first[k]!) ? until : x(b.first[k]!)
        this.#add(prefill, base, sent, token)
        this.#add(decode, base, token, until)
      }
      drawn++
    }
    for (const c of this.cover) this.#sum(c)
    return drawn
  }

  #size(width: number, height: number): void {
    const cells = (width + 2) * height
    if (this.cover[0].length !== cells) for (const i of [0, 1, 2]) this.cover[i as 0 | 1 | 2] = new Float32Array(cells)
    else for (const c of this.cover) c.fill(0)
    if (this.failed.length !== width * height) this.failed = new Uint8Array(width * height)
    else this.failed.fill(0)
    this.width = width
    this.height = height
  }

  // add notes where a phase begins and ends: the running sum of a row is how much fills each cell.
  #add(c: Float32Array, base: number, from: number, until: number): void {
    const a = Math.max(0, Math.min(this.width, from))
    const b = Math.max(0, Math.min(this.width, until))
    if (!(b > a)) return
    const [i, j] = [Math.floor(a), Math.floor(b)]
    const [p, q] = [a - i, b - j]
    c[base + i]! += 1 - p
    c[base + i + 1]! += p
    c[base + j]! -= 1 - q
    c[base + j + 1]! -= q
  }

  #mark(base: number, from: number, until: number): void {
    const a = Math.max(0, Math.min(this.width - 1, Math.floor(from)))
    const b = Math.max(a, Math.min(this.width - 1, Math.ceil(until) - 1))
    if (until < 0 || from > this.width) return
    this.failed.fill(1, base + a, base + b + 1)
  }

  #sum(c: Float32Array): void {
    for (let y = 0; y < this.height; y++) {
      const base = y * (this.width + 2)
      let sum = 0
      for (let x = 0; x < this.width; x++) c[base + x] = sum += c[base + x]!
    }
  }
}

/** The bar at a place of a view; -1: none is there. reach is the distance at which a bar still counts, in seconds. */
export function barAt(b: Bars, v: View, at: number, row: number, reach: number): number {
  const [first, end] = within(b, at - reach, at + reach)
  const wanted = Math.floor(row)
  let best = -1
  let distance = Infinity
  for (let k = first; k < end; k++) {
    if ((v.packed ? b.lane[k]! : k) !== wanted) continue
    const away = Math.max(b.from[k]! - at, at - b.until[k]!, 0)
    if (away <= reach && away < distance) [best, distance] = [k, away]
  }
  return best
}

/** The rows that a window of time needs: all into which bars are packed, or those of the bars it shows. */
export function rowsOf(b: Bars, from: number, until: number, packed: boolean): [number, number] {
  if (packed) return [0, Math.max(1, b.lanes)]
  const [first, end] = within(b, from, until)
  let [low, high] = [Infinity, -1]
  for (let k = first; k < end; k++) {
    if (b.until[k]! < from) continue
    low = Math.min(low, k)
    high = k
  }
  return low <= high ? [low, high + 1] : [0, 1]
}
