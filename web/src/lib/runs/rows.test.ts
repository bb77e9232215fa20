import { describe, expect, test } from 'vitest'
import { appended, barAt, bars, decode, Grid, never, rowsOf, within, type Rows } from './rows.ts'
import packed from './testdata/rows.packed.txt?raw'

const columns = ['index', 'due', 'released', 'sent', 'first', 'last', 'done', 'prompt', 'output', 'class']

// encode writes requests as the server does, in milliseconds.
function encode(requests: Record<string, number>[], classes = ['', 'timeout']): ArrayBuffer {
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

const request = (due: number, sent: number, first: number, done: number, more = {}) => ({ index: 0, due, released: sent, sent, first, last: done, done, ...more })

describe('decode', () => {
  test('reads columns', () => {
    const rows = decode(encode([request(0, 10, 50, 90, { prompt: 7 }), { index: 1, due: 5, class: 1 }]))
    expect(rows.header.n).toBe(2)
    expect([...rows.sent]).toEqual([10, never])
    expect([...rows.class]).toEqual([0, 1])
    expect(rows.prompt[0]).toBe(7)
  })

  // The file is that of TestPack in internal/show/view.
  test('reads what a report keeps', () => {
    const file = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)).buffer
    const rows = decode(file)
    expect([...rows.index]).toEqual([0, 2, 1, 3])
    expect([...rows.due]).toEqual([0, 10_000, never, 40_000_000])
    expect([...rows.first]).toEqual([300, never, never, 41_000_000])
    expect([...rows.done]).toEqual([900, 20_000, 16_000, never])
    expect([...rows.prompt]).toEqual([256, 1, 0, 100_000])
    expect(rows.header.classes).toEqual(['', 'timeout'])
    expect(() => decode(file.slice(0, -3))).toThrow(/cut short/)
  })

  test.each([
    ['other bytes', () => new TextEncoder().encode('PTR9....').buffer as ArrayBuffer, /PTR1/],
    ['nothing', () => new ArrayBuffer(0), /PTR1/],
    ['half of it', () => encode([request(0, 1, 2, 3)]).slice(0, -4), /cut short/],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => decode(bytes())).toThrow(message)
  })
})

test('rows that come later are appended, with their classes by name', () => {
  const a = decode(encode([request(0, 1, 2, 3, { class: 1 })], ['', 'timeout']))
  const b = decode(encode([request(4, 5, 6, 7, { class: 1 })], ['', 'http']))
  const all = appended(a, b)
  expect([...all.sent]).toEqual([1, 5])
  expect([...all.class].map((c) => all.header.classes[c])).toEqual(['timeout', 'http'])
  expect(all.header).toMatchObject({ n: 2, next: 1 })
  expect(appended(null, a)).toBe(a)
})

// Two that overlap, one after the first, one that failed without being sent.
const four = () => bars(decode(encode([request(20, 20, 30, 60), request(0, 10, 20, 50), request(55, 55, 58, 90), { index: 3, due: 100, class: 1, done: 120 }])))

describe('bars', () => {
  test('are sorted by their beginning and packed into few rows', () => {
    const b = four()
    expect([...b.place]).toEqual([1, 0, 2, 3])
    expect([...b.lane]).toEqual([0, 1, 0, 0])
    expect(b.lanes).toBe(2)
    expect([...b.failed]).toEqual([0, 0, 0, 1])
    expect(b.sent[3]).toBeCloseTo(0.12)
    expect(b.first[3]).toBeNaN()
  })

  test('a window has those that reach into it', () => {
    const b = four()
    expect(within(b, 0, 1)).toEqual([0, 4])
    expect(within(b, 0.055, 0.056)).toEqual([1, 3])
    expect(within(b, 0.2, 0.3)).toEqual([4, 4])
    expect(rowsOf(b, 0.055, 0.056, false)).toEqual([1, 3])
    expect(rowsOf(b, 0.2, 0.3, false)).toEqual([0, 1])
    expect(rowsOf(b, 0.2, 0.3, true)).toEqual([0, 2])
  })

  test('packed rows never overlap', () => {
    let seed = 1
    const random = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31
    const many = Array.from({ length: 2000 }, () => {
      const at = Math.floor(random() * 1e5)
      return request(at, at + 1, at + 5, at + 5 + Math.floor(random() * 500))
    })
    const b = bars(decode(encode(many)))
    const ends = new Map<number, number>()
    let most = 0
    for (let k = 0; k < b.n; k++) {
      expect(ends.get(b.lane[k]!) ?? 0).toBeLessThanOrEqual(b.from[k]!)
      ends.set(b.lane[k]!, b.until[k]!)
      most = Math.max(most, [...ends.values()].filter((until) => until > b.from[k]!).length)
    }
    expect(b.lanes).toBe(most)
  })

  test('the one under the pointer', () => {
    const b = four()
    const view = { from: 0, until: 0.2, top: 0, bottom: 2, packed: true }
    expect(barAt(b, view, 0.04, 0.5, 0)).toBe(0)
    expect(barAt(b, view, 0.04, 1.5, 0)).toBe(1)
    expect(barAt(b, view, 0.0525, 0.5, 0.004)).toBe(0 /* nearer than the next */)
    expect(barAt(b, view, 0.095, 0.5, 0.001)).toBe(-1)
  })
})

describe('a grid', () => {
  const at = (g: Grid, phase: number, x: number, y: number) => g.cover[phase as 0 | 1 | 2][y * (g.width + 2) + x]!

  test('fills cells by the share of time', () => {
    const b = bars(decode(encode([request(0, 15, 40, 100)])))
    const g = new Grid()
    expect(g.draw(b, { from: 0, until: 0.1, top: 0, bottom: 1, packed: true }, 10, 1)).toBe(1)
    expect(at(g, 0, 0, 0)).toBeCloseTo(1)
    expect(at(g, 0, 1, 0)).toBeCloseTo(0.5)
    expect(at(g, 1, 1, 0)).toBeCloseTo(0.5)
    expect(at(g, 1, 3, 0)).toBeCloseTo(1)
    expect(at(g, 1, 4, 0)).toBeCloseTo(0)
    expect(at(g, 2, 9, 0)).toBeCloseTo(1)
  })

  test('adds up bars that share a cell, whatever was drawn before', () => {
    const b = bars(decode(encode(Array.from({ length: 100 }, (_, i) => request(i, i, i + 0, i + 100)))))
    const g = new Grid()
    const all: number[] = []
    for (const _ of [1, 2]) {
      g.draw(b, { from: 0, until: 0.2, top: 0, bottom: 100, packed: false }, 20, 10)
      let sum = 0
      for (let y = 0; y < 10; y++) for (let x = 0; x < 20; x++) sum += at(g, 2, x, y)
      all.push(sum)
    }
    // 100 bars of 100 ms in cells of 10 ms
    for (const sum of all) expect(sum).toBeCloseTo(1000, 1)
  })

  test('a failure shows however short it is', () => {
    const b = bars(decode(encode([request(50, 50, never, 50, { class: 1 })])))
    const g = new Grid()
    g.draw(b, { from: 0, until: 1, top: 0, bottom: 1, packed: true }, 10, 1)
    expect([...g.failed]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  })

  test('cuts off what lies outside', () => {
    const b = four()
    const g = new Grid()
    expect(g.draw(b, { from: 0.055, until: 0.056, top: 1, bottom: 2, packed: true }, 5, 2)).toBe(1)
    expect(at(g, 2, 4, 1)).toBeCloseTo(1)
  })
})

test('of nothing there are no bars', () => {
  const rows: Rows = decode(encode([]))
  expect(bars(rows)).toMatchObject({ n: 0, lanes: 0 })
})
