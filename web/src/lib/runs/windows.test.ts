import { describe, expect, test } from 'vitest'
import { indexOf, inView, rowAt, toReveal, windowsOf } from './windows.ts'

describe('rows in view', () => {
  test.each([
    // above, view, height, total, beyond
    [0, 800, 40, 10000, 0, { from: 0, to: 20 }],
    [20, 800, 40, 10000, 0, { from: 0, to: 21 }],
    [4000, 800, 40, 10000, 5, { from: 95, to: 125 }],
    [-200, 800, 40, 10000, 0, { from: 0, to: 15 }],
    [-900, 800, 40, 10000, 0, { from: 0, to: 0 }],
    [399600, 800, 40, 10000, 5, { from: 9985, to: 10000 }],
    [500000, 800, 40, 10000, 5, { from: 10000, to: 10000 }],
    [0, 800, 40, 3, 10, { from: 0, to: 3 }],
    [0, 800, 40, 0, 10, { from: 0, to: 0 }],
  ])('scrolled by %d of a view of %d', (above, view, height, total, beyond, expected) => {
    expect(inView(above, view, height, total, beyond)).toEqual(expected)
  })
})

test.each([
  [{ from: 0, to: 30 }, [0]],
  [{ from: 190, to: 200 }, [0]],
  [{ from: 190, to: 201 }, [0, 200]],
  [{ from: 200, to: 200 }, []],
  [{ from: 150, to: 650 }, [0, 200, 400, 600]],
])('windows of %o', (range, expected) => {
  expect(windowsOf(range, 200)).toEqual(expected)
})

test('rows by index', () => {
  const windows = new Map([
    [0, ['a', 'b', 'c']],
    [6, ['g', 'h']],
  ])
  expect([0, 2, 3, 7, 8].map((i) => rowAt(windows, 3, i))).toEqual(['a', 'c', undefined, 'h', undefined])
  expect(indexOf(windows, (row) => row === 'h')).toBe(7)
  expect(indexOf(windows, (row) => row === 'd')).toBe(-1)
})

test.each([
  // index, above: a view of 400 with 40 covered at its top, rows of 20
  [0, 0, -40],
  [2, 0, 0],
  [19, 0, 0],
  [20, 0, 20],
  [10, 1000, -840],
  [20, 0.4, 20],
])('row %d, scrolled by %d, needs %d', (index, above, expected) => {
  expect(toReveal(index, above, 400, 20, 40)).toBe(expected)
})
