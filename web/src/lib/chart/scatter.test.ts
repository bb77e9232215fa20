import { describe, expect, it } from 'vitest'
import { axisOf, nearest, placeOf, rangeText, stacked, ticksOf, withRoom } from './scatter.ts'

// Numbers and units have a no-break space between them.
const plain = (text: string): string => text.replaceAll('\u00a0', ' ')
const texts = (a: ReturnType<typeof axisOf>, n: number, unit = ''): string[] => ticksOf(a, n, unit).map((t) => plain(t.text))

describe('axes', () => {
  it('begin at 0, unless the values are far from it', () => {
    expect(axisOf([3, 10, null, NaN], false).low).toBe(0)
    expect(axisOf([90, 100], false).low).toBeGreaterThan(80)
    expect(axisOf([90, 100], false).high).toBeGreaterThan(100)
  })
  it('have a place for what is there, and for nothing', () => {
    for (const a of [axisOf([], false), axisOf([], true), axisOf([5], true), axisOf([0, 0], false), axisOf([0], true), axisOf([0], true, 0.001)]) {
      expect(a.high).toBeGreaterThan(a.low)
      for (const v of [0, 1, 5, 100]) if (!a.log || a.floor > 0 || v > 0) expect(Number.isFinite(placeOf(a, v))).toBe(true)
    }
  })
  it('place values evenly, or by their logarithm', () => {
    const even = axisOf([0, 100], false)
    expect(placeOf(even, 0)).toBe(0)
    expect(placeOf(even, 50)).toBeCloseTo(50 / 108)
    const log = axisOf([1, 100], true)
    expect(placeOf(log, 10)).toBeCloseTo(0.5)
  })
  it('have small values at the foot of a floor, as 0', () => {
    const a = axisOf([0, 0.0001, 0.5], true, 0.001)
    expect([placeOf(a, 0), placeOf(a, 0.0001), placeOf(a, 0.001)]).toEqual([0, 0, 0])
    expect(texts(a, 6, 'share')[0]).toBe('0')
    expect(texts(a, 6, 'share')).toContain('10%')
  })
})

describe('ticks', () => {
  it('are round numbers with what tells them apart', () => {
    expect(texts(axisOf([0, 10], false), 5)).toEqual(['0', '2', '4', '6', '8', '10'])
    expect(texts(axisOf([0, 0.004], false), 4, 's')).toEqual(['0 ms', '1 ms', '2 ms', '3 ms', '4 ms'])
    expect(texts(axisOf([0.1, 0.25], false), 3)).toEqual(['0.0', '0.1', '0.2'])
  })
  it('are few on a logarithmic axis, and as many as a short one needs', () => {
    expect(texts(axisOf([1, 1e6], true), 4)).toEqual(['1', '100', '10,000', '1 M'])
    expect(texts(axisOf([80, 130], true), 6)).toEqual(['80', '90', '100', '110', '120', '130'])
  })
})

describe('labels', () => {
  it('are left out where they would touch another one or a point', () => {
    const box = (x: number, y = 0) => ({ x, y, width: 20 })
    expect(withRoom([box(0), box(10), box(30), box(24), box(10, 20)], 11, [])).toEqual([true, false, true, false, true])
    expect(withRoom([box(0)], 11, [], [box(15)])).toEqual([false])
    expect(withRoom([box(0)], 11, [{ x: 10, y: 2 }])).toEqual([false])
  })
})

it('names that would lie over an earlier one move below it', () => {
  const box = (x: number, y = 0) => ({ x, y, width: 20 })
  expect(stacked([box(0), box(10), box(15, 5), box(40)], 13).map((b) => b.y)).toEqual([0, 13, 26, 0])
})

it('the nearest point is within reach', () => {
  const points = [{ x: 0, y: 0 }, { x: 10, y: 0 }]
  expect(nearest(points, 7, 1, 24)).toBe(1)
  expect(nearest(points, 70, 1, 24)).toBe(-1)
})

it('ranges are said with their units', () => {
  expect(plain(rangeText([0.001, 0.2, NaN], 's'))).toBe('1 ms – 200 ms')
  expect(rangeText([], 's')).toBe('–')
})
