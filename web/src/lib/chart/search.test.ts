import { describe, expect, it } from 'vitest'
import { curveSeries, floorOf, frontSeries, legSeries, legState, nearBoundary, pairs, pathSeries, pointName, signed, spreadText, type Drawn } from './search.ts'
import type { Capacity, CapacityLeg, Search, Sweep, SweepPoint, SweepSpread } from '../net/types.ts'

const leg = (number: number, load: number, verdict: string, rest: Partial<CapacityLeg> = {}): CapacityLeg => ({
  number, load, by: 'rate', why: 'seek', run: '', running: false, requests: 100, failed: 0, beyond: [0.02], latency: [0.4], verdict, clear: false, reason: '', seconds: 1, ...rest,
})
const capacity = (legs: CapacityLeg[], load: number | null = null): Capacity => ({
  by: 'rate', objectives: [], budget: 0, wanted: 0, end: '', load, precision: null, passes: null, fails: null, binding: -1, legs, sides: [],
})

describe('legs of a search', () => {
  it('are undecided unless they decide by themselves', () => {
    expect(legState(leg(1, 1, 'met'))).toBe('met')
    expect(legState(leg(1, 1, 'met', { clear: true }))).toBe('passes')
    expect(legState(leg(1, 1, 'not-met'))).toBe('missed')
    expect(legState(leg(1, 1, 'not-met', { clear: true }))).toBe('fails')
    expect(legState(leg(1, 1, 'void', { clear: true }))).toBe('void')
    expect(legState(leg(1, 1, '', { running: true }))).toBe('running')
    expect(legState(leg(1, 1, ''))).toBe('unknown')
  })
  it('are drawn by state, without those of another kind of load or without a figure', () => {
    const c = capacity([leg(1, 1, 'met', { by: 'concurrency' }), leg(2, 5, 'met'), leg(3, 9, 'not-met', { clear: true }), leg(4, 7, '', { running: true, beyond: [null], latency: [] })])
    const drawn = legSeries(c, 0, 'beyond', (l) => 'leg ' + l.number, (s) => s)
    expect(drawn.map((s) => [s.name, s.spots.map((p) => [p.x, p.y, p.label])])).toEqual([['met (1)', [[5, 0.02, '2']]], ['fails (1)', [[9, 0.02, '3']]]])
    expect(legSeries(c, 0, 'latency', () => '', (s) => s)[0]!.spots[0]!.y).toBe(0.4)
    const path = pathSeries(c, () => '', (s) => s)
    expect(path[0]!.spots.map((p) => [p.x, p.y])).toEqual([[2, 5], [3, 9], [4, 7]])
    expect(path.slice(1).map((s) => s.name)).toEqual(['met (1)', 'fails (1)', 'running (1)'])
  })
  it('near the boundary are shown by themselves if there are enough', () => {
    const legs = [1, 90, 100, 105, 110].map((load, i) => leg(i + 1, load, 'met'))
    expect(nearBoundary(capacity(legs, 100))!.legs.map((l) => l.load)).toEqual([90, 100, 105, 110])
    expect(nearBoundary(capacity(legs.slice(1), 100))).toBe(null)
    expect(nearBoundary(capacity(legs, null))).toBe(null)
  })
  it('have an axis that tells a tenth of what is allowed from nothing', () => {
    expect(floorOf(0.05)).toBeCloseTo(0.005)
    expect(floorOf(0.5)).toBe(0.01)
  })
})

const spread = (value: number, rest: Partial<SweepSpread> = {}): SweepSpread => ({ n: 1, value, sd: null, low: null, high: null, predicted: false, ...rest })
const point = (rate: string, same: string, figures: Record<string, SweepSpread>, rest: Partial<SweepPoint> = {}): SweepPoint => ({
  values: [rate], load: Number(rate), curve: 0, runs: ['r' + rate], running: false, same, failed: [], figures, knee: false, front: false, refused: '', extrapolated: '', ...rest,
})
const sweep = (points: SweepPoint[]): Sweep => ({
  load: 'rate', settings: ['rate'], devices: 1, level: 0, what_if: [], points,
  quantities: [{ name: 'ttft.mean', title: 'mean TTFT', unit: 's' }], curves: [{ name: '', points: points.map((_, i) => i), says: '' }],
})
const drawn = (name: string, s: Sweep, colour: number, simulated = false): Drawn => ({
  search: { row: { name, simulated } } as Search, sweep: s, colour,
})

describe('sweeps', () => {
  const measured = sweep([point('1', 'a', { x: spread(1), y: spread(2), user: spread(9), device: spread(1) }), point('5', 'b', { x: spread(5) })])
  it('are curves of the points that have both quantities, with links', () => {
    const [one] = curveSeries([drawn('m', measured, 0)], 'x', 'y', () => 'says', (p) => '#' + p.runs[0])
    expect(one).toMatchObject({ name: 'm', colour: 0, joined: true, spots: [{ x: 1, y: 2, label: '1', href: '#r1', hollow: false }] })
  })
  it('that lie over each other have a colour each, and simulated points are hollow', () => {
    const all = curveSeries([drawn('m', measured, 0), drawn('<b>', measured, 1, true)], 'load', 'x', () => '', () => '')
    expect(all.map((s) => [s.name, s.colour, s.spots.length, s.spots[0]!.hollow])).toEqual([['m', 0, 2, false], ['<b>', 1, 2, true]])
  })
  it('have the front as a line by falling speed', () => {
    const s = sweep([9, 5, 7].map((user, i) => point(String(i), '', { user: spread(user), device: spread(10 - user) }, { front: user !== 7 })))
    const [line, points] = frontSeries([drawn('m', s, 2)], () => '', () => '', (d) => d.search.row.name)
    expect(line!.spots.map((p) => p.x)).toEqual([9, 5])
    expect(points!.spots.map((p) => p.ringed)).toEqual([true, true, false])
  })
  it('are paired by their loads, whatever their settings are called', () => {
    const simulated = sweep([
      point('1', 'a', { 'ttft.mean': spread(0.12, { predicted: true, low: 0.1, high: 0.14 }) }),
      point('1x', 'a', { 'ttft.mean': spread(0.05, { predicted: true, low: 0.04, high: 0.06 }) }),
      point('9', '', { 'ttft.mean': spread(1) }),
    ])
    const own = sweep([point('1', 'a', { 'ttft.mean': spread(0.1) }), point('9', '', { 'ttft.mean': spread(1) }), point('5', 'b', { 'ttft.mean': spread(0) })])
    const found = pairs(own, simulated)
    expect(found.map((p) => [p.point, p.inside])).toEqual([['rate=1', true], ['rate=1 / rate=1x', false]])
    expect(found[0]!.share).toBeCloseTo(0.2)
  })
  it('name a point by its settings', () => {
    expect(pointName(measured, measured.points[1]!)).toBe('rate=5')
  })
})

describe('spreads', () => {
  const text = (...args: Parameters<typeof spreadText>): string => spreadText(...args).replaceAll('\u00a0', ' ')
  it('have one unit, and no digit that is finer than the spread', () => {
    expect(text(spread(0.0123456), 's')).toBe('12.3 ms')
    expect(text(spread(0.0123456, { sd: 0.00045 }), 's')).toBe('12.35 ± 0.45 ms')
    expect(text(spread(2373.4, { sd: 460.2 }), 'tok/s')).toBe('2,373 ± 460 tok/s')
    expect(text(spread(2.19871, { sd: 0.00037 }), '/s', true)).toBe('2.199 ± <0.001')
    expect(text(spread(0.01, { low: 0.008, high: 0.0125, predicted: true }), 's')).toBe('10 (8 – 12.5) ms')
    expect(text(undefined, 's')).toBe('–')
  })
  it('and differences have their sign', () => {
    expect([0.123, -0.0123, 0, 0.00001].map(signed)).toEqual(['+12%', '−1.2%', '0.0%', '0.0%'])
  })
})
