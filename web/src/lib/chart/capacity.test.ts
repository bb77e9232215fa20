import { describe, expect, it } from 'vitest'
import { floorOf, legSeries, legState, nearBoundary, pathSeries } from './capacity.ts'
import type { Capacity, CapacityLeg } from '../net/types.ts'

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
