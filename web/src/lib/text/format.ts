// Numbers as text. Answers are in SI units (seconds, tokens per second, bytes, shares from 0 to 1);
// here they get the prefix that an engineer would write, and no more digits than are useful.
//
// Units are those of the answers: s, tok, tok/s, /s (requests per second), J, W, °C, Hz, B, share
// (shown in percent), % (in percent already), and '' for counts.

/** A number as it is displayed, and its unit. */
export interface Shown {
  text: string
  unit: string
}

/** How numbers of a column or an axis are displayed: multiplied by factor, in unit. */
export interface Scale {
  factor: number
  unit: string
}

/** Stands for a number that is not known. */
export const unknown = '–'

/** No-break space, between a number and its unit. */
const space = '\u00a0'

const si: [number, string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
]
const small: [number, string][] = [...si, [1e-3, 'm'], [1e-6, 'µ']]
const binary: [number, string][] = [
  [2 ** 40, 'Ti'],
  [2 ** 30, 'Gi'],
  [2 ** 20, 'Mi'],
  [2 ** 10, 'Ki'],
  [1, ''],
]
const seconds: [number, string][] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
]

/** The scale in which numbers up to largest read best, so that those of one axis share a unit. */
export function scaleOf(largest: number, unit: string): Scale {
  const size = Number.isFinite(largest) ? Math.abs(largest) : 0
  switch (unit) {
    case 's':
      return size === 0 ? { factor: 1, unit } : prefixed(size, seconds, '')
    case 'share':
      return { factor: 100, unit: '%' }
    case 'B':
      return prefixed(size, binary, 'B')
    case 'J':
    case 'W':
      return size === 0 ? { factor: 1, unit } : prefixed(size, small, unit)
    case 'Hz':
      return prefixed(size, si, unit)
    case 'tok':
    case 'tok/s':
    case '/s':
    case '':
      // Counts keep their digits as long as these can be read at a glance.
      return size < 1e5 ? { factor: 1, unit } : prefixed(size, si, unit)
    default:
      return { factor: 1, unit }
  }
}

function prefixed(size: number, steps: [number, string][], unit: string): Scale {
  // A number that would round to 1000 of a prefix is 1 of the next.
  const [step, prefix] = steps.find(([step]) => size >= step * 0.9995) ?? steps[steps.length - 1]!
  return { factor: 1 / step, unit: prefix + unit }
}

/** A number in a scale chosen for it or for its column. */
export function inScale(value: number | null | undefined, scale: Scale, digits = 3): string {
  return value == null || !Number.isFinite(value) ? unknown : plain(value * scale.factor, digits)
}

/** A number with the prefix that suits it: 0.0123 s is 12.3 and ms. */
export function shown(value: number | null | undefined, unit: string, digits = 3): Shown {
  if (value == null || !Number.isFinite(value)) return { text: unknown, unit: '' }
  const scale = scaleOf(value, unit)
  // A count keeps its digits, a mean of counts does not.
  const whole = (unit === '' || unit === 'tok') && Number.isInteger(value)
  return { text: plain(value * scale.factor, whole ? 6 : digits), unit: scale.unit }
}

/** A number and its unit as one text: 12.3 ms. */
export function show(value: number | null | undefined, unit: string, digits = 3): string {
  const { text, unit: of } = shown(value, unit, digits)
  return withUnit(text, of)
}

/** A text with its unit behind it. */
export function withUnit(text: string, unit: string): string {
  return unit === '' ? text : unit === '%' ? text + '%' : text + space + unit
}

/** A title with its unit, for an axis or the head of a column. */
export function titled(title: string, unit: string): string {
  return unit === '' ? title : `${title} (${unit})`
}

/** A number to so many significant digits; whole numbers keep all of theirs, in groups of three. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return unknown
  if (Math.abs(value) < 1e-12) return '0'
  // Rounding may add a digit before the point: 9.999 to three digits is 10.0.
  const rounded = Number(value.toPrecision(digits))
  const whole = Math.floor(Math.log10(Math.abs(rounded)) + 1e-12) + 1
  const decimals = Math.min(12, Math.max(0, digits - whole))
  const exact = Math.abs(value - Math.round(value)) < 1e-9 * Math.abs(value)
  const text = fixed(Math.abs(value), exact ? 0 : decimals)
  return (value < 0 && /[1-9]/.test(text) ? '−' : '') + text
}

/** A number with so many decimals, its whole part in groups of three digits. */
export function fixed(value: number, decimals: number): string {
  const [before = '', after] = value.toFixed(decimals).split('.')
  return before.replace(/\B(?=(\d{3})+$)/g, ',') + (after ? '.' + after : '')
}

/** A count in full: 12,345. */
export function count(n: number | null | undefined): string {
  return n == null || !Number.isFinite(n) ? unknown : plain(Math.round(n), 1)
}

/** A share from 0 to 1 in percent; only 0 and 1 read as 0% and 100%. */
export function share(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return unknown
  const percent = value * 100
  if (percent > 0 && percent < 0.01) return '<0.01%'
  if (percent < 100 && percent > 99.99) return '>99.99%'
  if (percent > 99) return plain(Math.floor(percent * 100) / 100, 4) + '%'
  return plain(percent, percent < 1 ? 2 : 3) + '%'
}

/** A difference as a share, with its sign. */
export function signedPercent(share: number): string {
  const p = 100 * share
  const digits = Math.abs(p) < 9.95 ? 1 : 0
  const text = Math.abs(p).toFixed(digits)
  return (Number(text) === 0 ? '' : p > 0 ? '+' : '−') + text + '%'
}

/** An instant of a run in seconds, to the millisecond, so that those of a column compare: 0.053, 12.300. */
export function at(seconds: number | null | undefined, decimals = 3): string {
  return seconds == null || !Number.isFinite(seconds) ? unknown : seconds.toFixed(decimals).replace('-', '−')
}

/** A length of time as people say it: 45 s, 3 min 20 s, 2 h 05 min. */
export function duration(length: number | null | undefined): string {
  if (length == null || !Number.isFinite(length)) return unknown
  const unit = (n: number, of: string) => n + space + of
  if (length < 60) return show(length, 's')
  const whole = Math.round(length)
  if (whole < 3600) return unit(Math.floor(whole / 60), 'min') + (whole % 60 ? ' ' + unit(whole % 60, 's') : '')
  const minutes = Math.round(whole / 60)
  return unit(Math.floor(minutes / 60), 'h') + (minutes % 60 ? ' ' + unit(minutes % 60, 'min') : '')
}

/** An instant (RFC 3339) as a date and a time of this place: 2025-03-01 14:05. */
export function instant(text: string, withSeconds = false): string {
  const d = new Date(text)
  if (text === '' || Number.isNaN(d.getTime())) return unknown
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`
  return `${day} ${two(d.getHours())}:${two(d.getMinutes())}` + (withSeconds ? ':' + two(d.getSeconds()) : '')
}
