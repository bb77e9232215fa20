import { describe, expect, test } from 'vitest'
import { decode, never, type Rows } from '../runs/rows.ts'
import { encode, request } from '../runs/testdata/encode.ts'
import { barAt, bars, Grid, rowsOf, within } from './bars.ts'

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
