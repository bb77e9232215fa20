// What the page makes of the errors of clients before it draws them.

import type { Series } from './scatter.ts'
import type { ConformCell, Conformity, ConformFigure, ConformResult } from './types.ts'

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

/** The rows of a cell: what some client has. */
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

/** How bad an error is: colour goes with the size of its share. */
export function gravity(f: ConformFigure): 'good' | 'doubt' | 'bad' | 'dim' {
  if (f.disavowed) return 'dim'
  const share = Math.abs(f.share)
  return share < 0.01 ? 'good' : share < 0.05 ? 'doubt' : 'bad'
}
