import { describe, expect, it } from 'vitest'
import { curveSeries, frontSeries, pairs, pointName, type Drawn } from './sweep.ts'
import type { Search, Sweep, SweepPoint, SweepSpread } from '../net/types.ts'

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
