// How the figures of a run are laid out: a row for each latency with a column for each statistic,
// the others by themselves.

import type { Figure } from '../net/types.ts'

interface FigureRow {
  /** The group of the figures: ttft. */
  name: string
  title: string
  unit: string
  definition: string
  /** By statistic: mean, median, p99. */
  cells: Record<string, Figure>
  /** One of the latencies that everybody looks at. */
  main: boolean
}

interface Layout {
  statistics: string[]
  rows: FigureRow[]
  others: Figure[]
  /** Reasons to doubt figures, each once; a figure refers to its own by the place here. */
  doubts: string[]
}

const order = ['mean', 'median', 'p50', 'p75', 'p90', 'p95', 'p99', 'p99.9', 'std', 'min', 'max', 'n']
const main = ['ttft', 'tpot', 'itl', 'e2el']
/** The other figures that are shown first; the head of the page has the counts of requests. */
const first = ['throughput.output', 'throughput.requests', 'throughput.total', 'goodput', 'peak.concurrency', 'tokens.input', 'tokens.output']

/** Lay figures out in their order, with statistics in that of a report. */
export function layout(figures: Figure[]): Layout {
  const rows = new Map<string, FigureRow>()
  const statistics = new Set<string>()
  const others: Figure[] = []
  for (const f of figures) {
    const dot = f.name.indexOf('.')
    if (!f.group || dot < 0) {
      others.push(f)
      continue
    }
    const statistic = f.name.slice(dot + 1)
    const name = f.group
    const row = rows.get(name) ?? { name, title: name.toUpperCase(), unit: f.unit, definition: '', cells: {}, main: main.includes(name) }
    row.definition ||= f.definition
    row.cells[statistic] = f
    statistics.add(statistic)
    rows.set(name, row)
  }
  const all = [...rows.values()]
  // Where none of them is known, none is set aside.
  if (!all.some((r) => r.main)) for (const r of all) r.main = true
  return {
    statistics: [...statistics].sort((a, b) => rank(a) - rank(b)),
    rows: all.sort((a, b) => among(main, a.name) - among(main, b.name)),
    others: others.sort((a, b) => among(first, a.name) - among(first, b.name)),
    doubts: [...new Set(figures.map((f) => f.doubt).filter((d) => d !== ''))],
  }
}

function rank(statistic: string): number {
  const known = order.indexOf(statistic)
  if (known >= 0) return known
  const p = /^p([\d.]+)$/.exec(statistic)
  if (!p) return order.length
  // Between the neighbouring percentiles.
  const value = Number(p[1])
  return order.findIndex((o) => o.startsWith('p') && Number(o.slice(1)) > value) - 0.5
}

function among(names: string[], name: string): number {
  const known = names.indexOf(name)
  return known < 0 ? names.length : known
}

/** The value that a share of a sample does not exceed; null of no sample. */
export function quantile(share: number[], value: number[], wanted: number): number | null {
  const i = share.findIndex((s) => s >= wanted - 1e-9)
  return i < 0 ? null : value[i]!
}
