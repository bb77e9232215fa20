// Line charts without a browser: their data as columns, the ticks of their axes, their text for screen readers.

import { plain, scaleOf, show, withUnit, type Scale } from '../text/format.ts'

/** A line of a chart. */
export interface Line {
  name: string
  /** Its own places on the x axis, ascending; without: those of the chart. */
  x?: number[]
  /** Values; null is a gap. */
  y: (number | null)[]
  /** steps: a value holds until the next. */
  style?: 'line' | 'steps' | 'points' | 'line and points'
  /** The number of its colour, from 0; without: its place among the lines. */
  colour?: number
  dashed?: boolean
  /** Filled down to the axis. */
  filled?: boolean
}

/** The area between two lines, by their names. */
export interface Band {
  low: string
  high: string
}

/** A value marked on an axis, such as a limit. */
export interface Rule {
  x?: number
  y?: number
  name: string
}

/** Lines on one x axis: its places, and for each line a value, null (gap) or undefined (none there). */
export type Columns = [number[], ...(number | null | undefined)[][]]

/** Lines with places of their own, on one x axis. */
export function aligned(x: number[], lines: Line[]): Columns {
  if (lines.every((l) => !l.x || l.x === x)) return [x, ...lines.map((l) => l.y)]
  const all = new Set(lines.some((l) => !l.x) ? x : [])
  for (const l of lines) for (const v of l.x ?? []) all.add(v)
  const places = [...all].sort((a, b) => a - b)
  const index = new Map(places.map((v, i) => [v, i]))
  return [
    places,
    ...lines.map((l) => {
      const y = new Array<number | null | undefined>(places.length).fill(undefined)
      const own = l.x ?? x
      for (let i = 0; i < own.length; i++) y[index.get(own[i]!)!] = l.y[i]
      return y
    }),
  ]
}

/** On a logarithmic axis only positive values have a place. */
export function positive(values: (number | null | undefined)[]): (number | null | undefined)[] {
  return values.map((v) => (v != null && v <= 0 ? null : v))
}

/** The least and the largest of values, null if there are none. */
export function extent(values: Iterable<number | null | undefined>): [number, number] | null {
  let low = Infinity
  let high = -Infinity
  for (const v of values) {
    if (v == null || !Number.isFinite(v)) continue
    if (v < low) low = v
    if (v > high) high = v
  }
  return low <= high ? [low, high] : null
}

/** Labels of ticks at a distance of step, in the scale of their axis, with as many decimals as make them distinct. */
export function tickLabels(ticks: number[], step: number, scale: Scale): string[] {
  const decimals = Math.max(0, -Math.floor(Math.log10(step * scale.factor) + 1e-9))
  return ticks.map((v) => fixed(v * scale.factor, decimals))
}

function fixed(v: number, decimals: number): string {
  if (decimals === 0) return plain(Math.round(v), 1)
  const text = Math.abs(v).toFixed(Math.min(9, decimals))
  return v < 0 && Number(text) !== 0 ? '−' + text : text
}

/** Ticks of a logarithmic axis: one to nine times powers of ten, and only the powers where these are many. */
export function logTicks(low: number, high: number): number[] {
  if (!(low > 0) || !(high > low) || !Number.isFinite(high)) return []
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
  const digits = last - first > 8 ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9]
  const found: number[] = []
  for (let e = first; e <= last; e++)
    for (const d of digits) {
      const v = Number(`${d}e${e}`)
      if (v >= low && v <= high) found.push(v)
    }
  return found
}

/** The least room between two labels of an axis, and the width of a letter, in pixels. */
const apart = 8
const letter = 6

/** Labels of a logarithmic axis: ones, twos and fives where there is room, each with its unit; none lies over another. */
export function logLabels(ticks: number[], unit: string, room: number): (string | null)[] {
  const decades = ticks.length > 1 ? Math.log10(ticks[ticks.length - 1]! / ticks[0]!) : 1
  const wanted = decades < 0.7 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : room / decades > 120 ? [1, 2, 5] : [1]
  const digits = ticks.map((v) => Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9)))
  const places = ticks.map((v) => (room * Math.log10(v / ticks[0]!)) / decades)
  const texts: (string | null)[] = ticks.map(() => null)
  // The rounder a number is, the sooner it has its label.
  for (const round of [[1], [2, 5], [3, 4, 6, 7, 8, 9]])
    ticks.forEach((v, i) => {
      const digit = digits[i]!
      if (!round.includes(digit) || !wanted.includes(digit)) return
      const text = label(v, unit)
      const near = texts.some((other, k) => other !== null && Math.abs(places[k]! - places[i]!) < (letter * (other.length + text.length)) / 2 + apart)
      if (!near) texts[i] = text
    })
  return texts
}

function label(v: number, unit: string): string {
  const scale = scaleOf(v, unit)
  return withUnit(plain(v * scale.factor, 1), scale.unit)
}

/** Steps of an axis of time in seconds: decimal below a minute, then those of a clock. */
export const timeSteps = [
  ...[-6, -5, -4, -3, -2, -1, 0].flatMap((e) => [1, 2, 5].map((f) => f * 10 ** e)),
  ...[10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800],
]

/** Whether numbers of a unit are whole. */
export function counts(unit: string): boolean {
  return unit === '' || unit === 'tok'
}

/** Steps of an axis of counts. */
export const wholeSteps = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((e) => [1, 2, 5].map((f) => f * 10 ** e))

/** From this length on an axis of time is labelled as a clock. */
export const clockFrom = 600

/** Labels of an axis of time in seconds, with their unit; a long one is a clock. */
export function timeLabels(ticks: number[], step: number, until: number): string[] {
  if (until <= clockFrom || step < 1) return tickLabels(ticks, step, { factor: 1, unit: 's' }).map((text) => withUnit(text, 's'))
  return ticks.map((v) => withUnit(clock(v), Math.abs(v) < 3600 ? 'min' : 'h'))
}

/** Seconds as a clock: 2:05, 1:02:05. */
export function clock(seconds: number): string {
  const whole = Math.round(Math.abs(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  const h = Math.floor(whole / 3600)
  const m = Math.floor(whole / 60) % 60
  const text = h ? `${h}:${two(m)}:${two(whole % 60)}` : `${m}:${two(whole % 60)}`
  return seconds < 0 && whole ? '−' + text : text
}

/** A line in words, for screen readers: name: 1 ms to 5 ms, last 2 ms. */
export function lineText(line: Line, unit: string, to: string): string {
  const range = extent(line.y)
  return range ? `${line.name} ${show(range[0], unit)} ${to} ${show(range[1], unit)}` : line.name + ' –'
}
