// The errors of clients as points of a chart and rows of a table.

import type { Series } from './scatter.ts'
import type { ConformCell, Conformity, ConformFigure, ConformResult } from '../net/types.ts'

/** The lines of the plot: a colour for each client, a broken line where tokens come spread. */
export function errorSeries(c: Conformity, says: (title: string, streams: number, share: number) => string): Series[] {
  return c.errors.map((e) => ({
    name: e.title, colour: e.client, joined: true, dashed: e.arrivals === 'spread',
    spots: e.streams.map((streams, i) => ({ x: streams, y: e.shares[i]!, says: says(e.title, streams, e.shares[i]!), hollow: e.arrivals === 'spread' })),
  }))
}

/** A row of the table of a cell: a figure of each client, or a fact. */
export interface Line {
  title: string
  figures: (ConformFigure | null)[]
  facts: string[]
}

/** The rows of a cell: the figures and facts of any client. */
export function linesOf(cell: ConformCell, clients: number): Line[] {
  const by: (ConformResult | undefined)[] = Array.from({ length: clients }, (_, i) => cell.results.find((r) => r.client === i))
  const lines = new Map<string, Line>()
  const line = (title: string): Line => {
    const had = lines.get(title) ?? { title, figures: Array<null>(clients).fill(null), facts: Array<string>(clients).fill('') }
    lines.set(title, had)
    return had
  }
  for (const r of by) for (const f of r?.figures ?? []) line(f.title).figures[r!.client] = f
  for (const r of by) for (const f of r?.facts ?? []) line(f.name).facts[r!.client] = f.value
  return [...lines.values()]
}

/** How bad an error is, by its share of the true figure: from 1 % and from 5 %. */
export function gravity(f: ConformFigure): 'good' | 'doubt' | 'bad' | 'dim' {
  if (f.disavowed) return 'dim'
  const share = Math.abs(f.share)
  return share < 0.01 ? 'good' : share < 0.05 ? 'doubt' : 'bad'
}

/** The figure of a client in a cell with the largest error, of those that it stands by; null: none. */
export function worst(cell: ConformCell, client: number): ConformFigure | null {
  const all = cell.results.find((r) => r.client === client)?.figures.filter((f) => !f.disavowed) ?? []
  return all.reduce<ConformFigure | null>((most, f) => (most && Math.abs(most.share) >= Math.abs(f.share) ? most : f), null)
}
