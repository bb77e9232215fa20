// Relative times: five minutes ago.

const steps: [Intl.RelativeTimeFormatUnit, number, number][] = [
  // unit, its seconds, the seconds from which the next one is used
  ['second', 1, 60],
  ['minute', 60, 3600],
  ['hour', 3600, 86400],
  ['day', 86400, 30 * 86400],
  ['month', 30.44 * 86400, 365.25 * 86400],
  ['year', 365.25 * 86400, Infinity],
]

const formats = new Map<string, Intl.RelativeTimeFormat>()

function formatOf(language: string): Intl.RelativeTimeFormat {
  let format = formats.get(language)
  if (!format) formats.set(language, (format = new Intl.RelativeTimeFormat(language, { style: 'short', numeric: 'always' })))
  return format
}

/** How long ago an instant (RFC 3339) was, at a time in milliseconds; empty: not an instant. */
export function ago(text: string, now: number, language: string): string {
  const then = Date.parse(text)
  if (Number.isNaN(then)) return ''
  const seconds = (now - then) / 1000
  const [unit, size] = steps.find(([, , until]) => Math.abs(seconds) < until) ?? steps[steps.length - 1]!
  const whole = Math.trunc(seconds / size)
  return formatOf(language).format(whole === 0 ? -0 : -whole, unit) // 0 is to come, -0 was
}
