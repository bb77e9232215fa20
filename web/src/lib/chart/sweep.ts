// Sweeps as curves and fronts, and the loads that a measured and a simulated sweep share.

import type { Series, Spot } from './scatter.ts'
import type { Quantity, Search, Sweep, SweepPoint, SweepSpread } from '../net/types.ts'

/** The value of a point on an axis: a quantity, or the load. */
export function valueOf(p: SweepPoint, name: string): SweepSpread | null {
  if (name !== 'load') return p.figures[name] ?? null
  return p.load === null ? null : { n: 0, value: p.load, sd: null, low: null, high: null, predicted: false }
}

/** A sweep to draw: its answer, its colour and whether it is simulated. */
export interface Drawn {
  search: Search
  sweep: Sweep
  /** The number of its first colour. */
  colour: number
}

const mostCurves = 14

/**
 * The curves of sweeps on two axes. Each curve of a sweep by itself has a colour; of several
 * sweeps each has one.
 */
export function curveSeries(all: Drawn[], x: string, y: string, says: (d: Drawn, p: SweepPoint) => string, link: (p: SweepPoint) => string): Series[] {
  return all.flatMap((d) => {
    const curves = d.sweep.curves.length ? d.sweep.curves.map((c) => ({ name: c.name, points: c.points })) : [{ name: '', points: d.sweep.points.map((_, i) => i) }]
    return curves.slice(0, mostCurves).map((c, i) => ({
      name: nameOf(d, c.name, all.length > 1),
      colour: all.length > 1 ? d.colour : i,
      joined: d.sweep.load !== '',
      dashed: all.length > 1 && i > 0,
      spots: c.points.flatMap((k) => spotOf(d, d.sweep.points[k]!, x, y, says, link) ?? []),
    }))
  })
}

function nameOf(d: Drawn, curve: string, named: boolean): string {
  return named ? [d.search.row.name, curve].filter(Boolean).join(': ') : curve || d.search.row.name
}

function spotOf(d: Drawn, p: SweepPoint, x: string, y: string, says: (d: Drawn, p: SweepPoint) => string, link: (p: SweepPoint) => string): Spot | null {
  const at = valueOf(p, x)
  const up = valueOf(p, y)
  if (!at || !up) return null
  return {
    x: at.value, y: up.value, left: at.low, right: at.high, low: up.low, high: up.high,
    label: x === 'load' ? '' : loadText(d.sweep, p), says: says(d, p), href: link(p), hollow: d.search.row.simulated, ringed: p.knee,
  }
}

/** The value of the setting that is the load of a point. */
function loadText(s: Sweep, p: SweepPoint): string {
  const i = s.settings.indexOf(s.load)
  return i < 0 ? '' : (p.values[i] ?? '')
}

/** The points of sweeps on the axes of the front, and the front of each as a line. */
export function frontSeries(all: Drawn[], says: (d: Drawn, p: SweepPoint) => string, link: (p: SweepPoint) => string, name: (d: Drawn) => string): Series[] {
  return all.flatMap((d) => {
    const spots = d.sweep.points.flatMap((p) => {
      const s = spotOf(d, p, 'user', 'device', says, link)
      return s ? [{ p, s: { ...s, ringed: p.front } }] : []
    })
    const front = spots.filter(({ p }) => p.front).map(({ s }) => s).sort((a, b) => b.x - a.x)
    return [
      { name: '', colour: d.colour, joined: true, spots: front.map((s) => ({ x: s.x, y: s.y, says: s.says })) },
      { name: name(d), colour: d.colour, spots: spots.map(({ s }) => s) },
    ]
  })
}

/** The name of a point by its settings: rate=5 input-len=128. */
export function pointName(s: Sweep, p: SweepPoint): string {
  return s.settings.map((name, i) => name + '=' + (p.values[i] ?? '')).join(' ')
}

/** A quantity at a load that was measured and simulated. */
export interface Pair {
  /** The measured point, and the simulated one where it is called otherwise. */
  point: string
  quantity: Quantity
  measured: SweepSpread
  predicted: SweepSpread
  /** By which the prediction is larger, as a share. */
  share: number
  /** The measured value is in the interval of the prediction; null: it has none. */
  inside: boolean | null
}

/** The loads that a measured and a simulated sweep have in common, whatever their settings are called. */
export function pairs(measured: Sweep, simulated: Sweep): Pair[] {
  return measured.points.flatMap((m) =>
    simulated.points.filter((s) => s.same !== '' && s.same === m.same).flatMap((s) => pairsOf(measured, m, simulated, s)),
  )
}

function pairsOf(measured: Sweep, m: SweepPoint, simulated: Sweep, s: SweepPoint): Pair[] {
  const names = [pointName(measured, m), pointName(simulated, s)]
  const point = names[0] === names[1] ? names[0]! : names.join(' / ')
  return measured.quantities.flatMap((quantity) => {
    const a = m.figures[quantity.name]
    const b = s.figures[quantity.name]
    if (!a || !b || !(a.value > 0)) return []
    const inside = b.predicted && b.low !== null && b.high !== null ? a.value >= b.low && a.value <= b.high : null
    return [{ point, quantity, measured: a, predicted: b, share: b.value / a.value - 1, inside }]
  })
}
