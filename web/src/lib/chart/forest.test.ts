import { describe, expect, it } from 'vitest'
import { forest, percentTick, type Mark } from './forest.ts'

const mark = (relative: number | null, low: number | null = null, high: number | null = null): Mark => ({ relative, low, high })

describe('the scale of a forest plot', () => {
  it('holds all intervals, is straight near the margin, and symmetric', () => {
    const f = forest([mark(0.03, 0.01, 0.05), mark(-0.02, -0.06, 0.02)], 0.02)
    expect(f.reach).toBeCloseTo(0.063)
    expect(f.at(0)).toBe(0)
    expect(f.at(0.02)).toBeCloseTo(0.02 / f.reach)
    expect(f.at(-0.05)).toBeCloseTo(-f.at(0.05))
    for (const v of [-0.06, 0.05]) expect(Math.abs(f.at(v))).toBeLessThan(1)
  })

  it('bends where one change is far out, so that the margin can still be seen', () => {
    const f = forest([mark(3, 2, 5), mark(0.01, -0.01, 0.03)], 0.02)
    expect(f.at(0.02)).toBeGreaterThan(0.1)
    expect(f.at(5)).toBeLessThan(1)
    expect(f.at(3)).toBeGreaterThan(f.at(0.03))
  })

  it('shows more than the margin where nothing is known', () => {
    const f = forest([mark(null), mark(0)], 0.02)
    expect(f.at(0.02)).toBeCloseTo(1 / 1.5)
    expect(f.at(Infinity)).toBe(1)
  })

  it('has labels with room between them', () => {
    for (const reach of [0.01, 0.07, 0.5, 4, 300]) {
      const f = forest([mark(reach)], 0.02)
      expect(f.ticks).toContain(0)
      expect(f.ticks.length).toBeGreaterThan(2)
      const places = f.ticks.map(f.at)
      places.slice(1).forEach((place, i) => expect(place - places[i]!).toBeGreaterThan(0.27))
    }
  })

  it('labels shares in percent', () => {
    expect([0, 0.05, -0.002, 1.5].map(percentTick)).toEqual(['0', '+5', '−0.2', '+150'])
  })
})
