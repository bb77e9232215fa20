// What the page makes of sweeps and capacity searches before it draws them.

import { inScale, scaleOf, unknown, withUnit } from '../text/format.ts'
import type { Series, Shape, Spot, Tone } from './scatter.ts'
import type { Capacity, CapacityLeg, Quantity, Search, Sweep, SweepPoint, SweepSpread } from '../net/types.ts'

/** How a leg stands, as page.search.leg names it. */
export type LegState = 'running' | 'passes' | 'fails' | 'met' | 'missed' | 'void' | 'unknown'

/** A leg that does not decide by itself is undecided: met or missed as it was counted. */
export function legState(leg: CapacityLeg): LegState {
  if (leg.running) return 'running'
  switch (leg.verdict) {
    case 'met':
      return leg.clear ? 'passes' : 'met'
    case 'not-met':
      return leg.clear ? 'fails' : 'missed'
    case 'void':
      return 'void'
    default:
      return 'unknown'
  }
}

/** How each state is drawn: told by shape and fill as well as by colour. */
export const legLooks: Record<LegState, { shape: Shape; tone: Tone; hollow: boolean }> = {
  passes: { shape: 'dot', tone: 'good', hollow: false },
  met: { shape: 'dot', tone: 'doubt', hollow: true },
  missed: { shape: 'diamond', tone: 'doubt', hollow: true },
  fails: { shape: 'cross', tone: 'bad', hollow: false },
  void: { shape: 'triangle', tone: 'bad', hollow: true },
  running: { shape: 'square', tone: 'live', hollow: true },
  unknown: { shape: 'dot', tone: 'dim', hollow: true },
}

/** What a leg shows of an objective: the share of its requests beyond the limit, or the figure. */
export type Look = 'beyond' | 'latency'

/** The legs of a search that are at loads of its kind, as points by their state. */
export function legSeries(c: Capacity, objective: number, look: Look, says: (leg: CapacityLeg) => string, name: (s: LegState) => string): Series[] {
  return byState(c, name, (leg) => {
    const y = (look === 'beyond' ? leg.beyond : leg.latency)[objective]
    return y == null ? null : { x: leg.load, y, label: String(leg.number), says: says(leg) }
  })
}

/** A search with only the legs near the boundary; null: these are too few, or all of them. */
export function nearBoundary(c: Capacity): Capacity | null {
  const { load } = c
  if (load === null) return null
  const own = c.legs.filter((l) => l.by === c.by)
  const legs = own.filter((l) => l.load > load / 1.6 && l.load < load * 1.6)
  return legs.length < 4 || legs.length === own.length ? null : { ...c, legs }
}

/** The loads of a search in the order in which they were made. */
export function pathSeries(c: Capacity, says: (leg: CapacityLeg) => string, name: (s: LegState) => string): Series[] {
  const path = c.legs.filter((l) => l.by === c.by).map((l): Spot => ({ x: l.number, y: l.load, says: says(l), shape: 'dot', tone: 'dim' }))
  return [
    { name: '', spots: path, joined: true },
    ...byState(c, name, (leg) => ({ x: leg.number, y: leg.load, says: says(leg) })),
  ]
}

function byState(c: Capacity, name: (s: LegState) => string, spot: (leg: CapacityLeg) => Spot | null): Series[] {
  const found = new Map<LegState, Spot[]>()
  for (const leg of c.legs) {
    if (leg.by !== c.by) continue
    const state = legState(leg)
    const at = spot(leg)
    if (!at) continue
    found.set(state, [...(found.get(state) ?? []), { ...at, ...legLooks[state] }])
  }
  return (Object.keys(legLooks) as LegState[]).flatMap((state) => {
    const spots = found.get(state)
    return spots ? [{ name: `${name(state)} (${spots.length})`, spots }] : []
  })
}

/** The largest share beyond a limit that an axis needs to tell from none. */
export function floorOf(allowed: number): number {
  return Math.min(0.01, allowed / 10)
}

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
export function loadText(s: Sweep, p: SweepPoint): string {
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

/**
 * A value with its spread, in one unit: 12.3 ± 0.4 ms, or with the interval of a prediction. No digit is
 * finer than the second of the spread.
 */
export function spreadText(s: SweepSpread | null | undefined, unit: string, bare = false): string {
  if (!s) return unknown
  const scale = scaleOf(s.value, unit)
  const end = (text: string): string => withUnit(text, bare ? '' : scale.unit)
  if (s.predicted && s.low !== null && s.high !== null) {
    return end(`${inScale(s.value, scale)} (${inScale(s.low, scale)} – ${inScale(s.high, scale)})`)
  }
  if (s.sd === null) return end(inScale(s.value, scale))
  const decimals = decimalsOf(s.sd * scale.factor, s.value * scale.factor)
  const text = (v: number): string => fixed(v * scale.factor, decimals)
  return end(`${text(s.value)} ± ${s.sd > 0 && Number(text(s.sd)) === 0 ? '<' + (10 ** -decimals).toFixed(decimals) : text(s.sd)}`)
}

// decimalsOf is how many decimals a value gets: those of two digits of its spread, at most those of four of its own.
function decimalsOf(sd: number, value: number): number {
  const places = (v: number, digits: number): number => digits - 1 - Math.floor(Math.log10(Math.abs(v)))
  const own = value === 0 ? 0 : places(value, 4)
  return Math.min(6, Math.max(0, sd > 0 ? Math.min(places(sd, 2), own) : own))
}

function fixed(v: number, decimals: number): string {
  const [before = '', after] = v.toFixed(decimals).split('.')
  return before.replace(/\B(?=(\d{3})+$)/g, ',') + (after ? '.' + after : '')
}

/** A difference as a share, with its sign. */
export function signed(share: number): string {
  const p = 100 * share
  const digits = Math.abs(p) < 9.95 ? 1 : 0
  const text = Math.abs(p).toFixed(digits)
  return (Number(text) === 0 ? '' : p > 0 ? '+' : '−') + text + '%'
}
