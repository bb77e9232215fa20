// A capacity search as points of a chart.

import type { Series, Shape, Spot, Tone } from './scatter.ts'
import type { Capacity, CapacityLeg } from '../net/types.ts'

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

/** How each state is drawn: distinct by shape and fill as well as by colour. */
export const legLooks: Record<LegState, { shape: Shape; tone: Tone; hollow: boolean }> = {
  passes: { shape: 'dot', tone: 'good', hollow: false },
  met: { shape: 'dot', tone: 'doubt', hollow: true },
  missed: { shape: 'diamond', tone: 'doubt', hollow: true },
  fails: { shape: 'cross', tone: 'bad', hollow: false },
  void: { shape: 'triangle', tone: 'bad', hollow: true },
  running: { shape: 'square', tone: 'live', hollow: true },
  unknown: { shape: 'dot', tone: 'dim', hollow: true },
}

/** The value of a leg for an objective: the share of its requests beyond the limit, or the figure. */
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
