// Sparklines: a few values as the points of a line.

/** The points of a line through values from 0 to the largest, in a box, as SVG has them. */
export function points(values: number[], width: number, height: number): string {
  const top = Math.max(...values, 0) || 1
  const step = values.length > 1 ? width / (values.length - 1) : 0
  return values.map((v, i) => round(i * step) + ',' + round(height - (v / top) * height)).join(' ')
}

const round = (n: number): number => Math.round(n * 10) / 10
