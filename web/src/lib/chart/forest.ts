// The scale of a forest plot: where a change in percent stands between the ends of its axis, which are
// the same for all rows of a table. Further out than ten margins it is logarithmic, lest one doubling
// make points of all others.

/** A change and where it lies, as shares. */
export interface Mark {
  relative: number | null
  low: number | null
  high: number | null
}

export interface Forest {
  /** The shares at the ends: -reach and reach. */
  reach: number
  /** The place of a share, from -1 to 1. Shares further out are at the end. */
  at: (share: number) => number
  /** Shares to be labelled, 0 among them. */
  ticks: number[]
}

const linearUpTo = 10

/** The scale for the marks of a table, with the margin below which a change does not matter. */
export function forest(marks: Mark[], margin: number): Forest {
  let reach = margin * 1.5
  for (const m of marks) {
    for (const v of [m.relative, m.low, m.high]) if (v !== null && Number.isFinite(v)) reach = Math.max(reach, Math.abs(v) * 1.05)
  }
  const linear = reach <= linearUpTo * margin
  const bend = (v: number): number => (linear ? v : Math.asinh(v / margin))
  const at = (v: number): number => Math.max(-1, Math.min(1, bend(v) / bend(reach)))
  return { reach, at, ticks: ticks(reach, at) }
}

/** The least distance of two labels, on a scale that is 2 wide. */
const labelDistance = 0.28

// ticks are round shares with room between their labels, from the middle outwards.
function ticks(reach: number, at: (v: number) => number): number[] {
  const found: number[] = []
  let last = 0
  for (let e = -4; e <= 4; e++) {
    for (const digit of [1, 2, 5]) {
      const v = digit * 10 ** e
      if (v > reach || at(v) - last < labelDistance || at(v) > 1 - labelDistance / 4) continue
      found.push(v)
      last = at(v)
    }
  }
  return [...found.map((v) => -v).reverse(), 0, ...found]
}

/** A share as a label: +5 %. */
export function percentTick(share: number): string {
  if (share === 0) return '0'
  const text = String(Number((Math.abs(share) * 100).toPrecision(3)))
  return (share < 0 ? '−' : '+') + text
}
