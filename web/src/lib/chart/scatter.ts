// Points on two axes, without a browser: where a value is, which ticks an axis has, which labels
// have room.

import { plain, scaleOf, unknown, withUnit } from '../text/format.ts'

/** A point with its intervals, and how it is drawn. */
export interface Spot {
  x: number
  y: number
  left?: number | null
  right?: number | null
  low?: number | null
  high?: number | null
  /** Beside the point, where there is room. */
  label?: string
  /** A description of it. */
  says: string
  href?: string
  shape?: Shape
  hollow?: boolean
  ringed?: boolean
  tone?: Tone
}

export type Shape = 'dot' | 'cross' | 'diamond' | 'triangle' | 'square'
export type Tone = 'good' | 'bad' | 'doubt' | 'dim' | 'live'

/** Points with one name and look. */
export interface Series {
  name: string
  spots: Spot[]
  /** The number of its colour, from 0. */
  colour?: number
  /** Its points are joined in their order. */
  joined?: boolean
  dashed?: boolean
}

/** An axis from low to high. */
export interface Axis {
  low: number
  high: number
  log: boolean
  /** Of a logarithmic axis: smaller values stand at its beginning, which is 0. */
  floor: number
}

/**
 * The axis of values, with some room at both ends. One that is not logarithmic begins at 0 unless
 * the values are far from it; with a floor a logarithmic one begins there.
 */
export function axisOf(values: (number | null | undefined)[], log: boolean, floor = 0): Axis {
  const all = values.filter((v): v is number => v != null && Number.isFinite(v) && (!log || floor > 0 || v > 0))
  if (all.length === 0) return { low: log ? floor || 1 : 0, high: log ? 10 : 1, log, floor }
  let low = Math.min(...all)
  let high = Math.max(...all)
  if (!log) {
    if (low > 0 && low < 0.7 * high) low = 0
    const room = (high - low || Math.abs(high) || 1) * 0.08
    return { low: low === 0 ? 0 : low - room, high: high + room, log, floor }
  }
  if (floor > 0) low = floor
  high = Math.max(high, low * 1.5)
  const room = Math.pow(high / low, 0.07)
  return { low: floor > 0 ? floor : low / room, high: high * room, log, floor }
}

/** Where a value is on an axis, from 0 to 1. */
export function placeOf(a: Axis, v: number): number {
  if (!a.log) return (v - a.low) / (a.high - a.low)
  return Math.log(Math.max(v, a.floor || 1e-300) / a.low) / Math.log(a.high / a.low)
}

/** A value that an axis names. */
interface Tick {
  value: number
  text: string
}

/** About so many ticks at round values. */
export function ticksOf(a: Axis, wanted: number, unit: string): Tick[] {
  // Within less than a decade round numbers name more than powers of ten and their multiples.
  return a.log && (a.floor > 0 || a.high / a.low > 8) ? logTicks(a, wanted, unit) : evenTicks(a, wanted, unit)
}

function evenTicks(a: Axis, wanted: number, unit: string): Tick[] {
  const scale = scaleOf(Math.max(Math.abs(a.low), Math.abs(a.high)), unit)
  const span = (a.high - a.low) * scale.factor
  const raw = span / Math.max(1, wanted)
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw * 0.75)!
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  const out: Tick[] = []
  for (let i = Math.ceil((a.low * scale.factor) / step - 1e-9); i * step <= a.high * scale.factor * (1 + 1e-9); i++) {
    const v = i * step
    out.push({ value: v / scale.factor, text: withUnit(decimals ? v.toFixed(decimals) : plain(Math.round(v), 1), scale.unit) })
  }
  return out
}

function logTicks(a: Axis, wanted: number, unit: string): Tick[] {
  const decades = Math.log10(a.high / a.low)
  const digits = [[1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]].find((d) => d.length * decades <= wanted * 1.4) ?? [1]
  const each = Math.max(1, Math.ceil(decades / Math.max(1, wanted)))
  const out: Tick[] = a.floor > 0 ? [{ value: a.floor, text: '0' }] : []
  for (let e = Math.floor(Math.log10(a.low)); e <= Math.ceil(Math.log10(a.high)); e++) {
    if (digits.length === 1 && e % each !== 0) continue
    for (const d of digits) {
      const v = d * 10 ** e
      if (v < a.low * (a.floor > 0 ? 1.3 : 0.9999) || v > a.high * 1.0001) continue
      const scale = scaleOf(v, unit)
      out.push({ value: v, text: withUnit(plain(v * scale.factor, 1), scale.unit) })
    }
  }
  return out
}

/** A text at a place, in pixels. */
export interface Box {
  x: number
  y: number
  width: number
}

/** The least room between two texts beside each other: less reads as one. */
const apart = 6

/** Which of some texts of one line have room without touching another, one of those that are there, or a point. */
export function withRoom(boxes: Box[], height: number, points: { x: number; y: number }[], there: Box[] = []): boolean[] {
  const taken = [...there]
  return boxes.map((b) => {
    const hits = (x: number, y: number, w: number, room: number): boolean => b.x < x + w + room && x < b.x + b.width + room && Math.abs(b.y - y) < height
    const free = !taken.some((o) => hits(o.x, o.y, o.width, apart)) && !points.some((p) => hits(p.x - 3, p.y, 6, 2) && Math.abs(p.y - b.y) < height * 0.6)
    if (free) taken.push(b)
    return free
  })
}

/** Texts of one line where each has room: one that would lie over an earlier one moves below it. */
export function stacked(boxes: Box[], height: number): Box[] {
  const taken: Box[] = []
  for (const b of boxes) {
    const at = { ...b }
    for (let over: Box | undefined; (over = taken.find((o) => at.x < o.x + o.width && o.x < at.x + at.width && Math.abs(at.y - o.y) < height)); ) at.y = over.y + height
    taken.push(at)
  }
  return taken
}

/** The index of the nearest of some points, or -1 if none is within reach. */
export function nearest(points: { x: number; y: number }[], x: number, y: number, reach: number): number {
  let best = -1
  let least = reach * reach
  points.forEach((p, i) => {
    const d = (p.x - x) ** 2 + (p.y - y) ** 2
    if (d <= least) [best, least] = [i, d]
  })
  return best
}

/** The range of values on an axis, for screen readers. */
export function rangeText(values: number[], unit: string): string {
  const all = values.filter(Number.isFinite)
  if (all.length === 0) return unknown
  const text = (v: number): string => {
    const scale = scaleOf(v, unit)
    return withUnit(plain(v * scale.factor), scale.unit)
  }
  return text(Math.min(...all)) + ' – ' + text(Math.max(...all))
}
