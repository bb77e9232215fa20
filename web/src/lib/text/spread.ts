// A value with its spread as text.

import { fixed, inScale, scaleOf, unknown, withUnit } from './format.ts'
import type { SweepSpread } from '../net/types.ts'

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
