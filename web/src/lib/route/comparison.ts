// The query of a comparison or a note. The address of the page and the request to the server have the
// same parameters: #/compare?run=base-*&run=new-*&baseline=base-*.

import type { Parameters } from '../net/api.ts'

export interface ComparisonQuery {
  /** Names, ids, patterns, experiments; several with commas between are one variant. */
  runs: string[]
  baseline: string
  /** Shares; empty: as the experiment or the default has it. */
  level: string
  margin: string
  paired: boolean
  single: boolean
  predicted: boolean
  ignore: string[]
  by: string
  gates: string[]
}

const flags = ['paired', 'single', 'predicted'] as const
type Flag = (typeof flags)[number]

/** Read the query of an address. */
export function readComparison(address: URLSearchParams): ComparisonQuery {
  const all = (name: string): string[] => [...new Set(address.getAll(name).filter(Boolean))]
  const on = (name: Flag): boolean => address.get(name) === '1'
  return {
    runs: all('run'),
    baseline: address.get('baseline') ?? '',
    level: shareOr(address.get('level')),
    margin: shareOr(address.get('margin')),
    paired: on('paired'),
    single: on('single'),
    predicted: on('predicted'),
    ignore: all('ignore'),
    by: address.get('by') ?? '',
    gates: all('gate'),
  }
}

// shareOr returns a share between 0 and 1 as it is written, and drops any other text.
function shareOr(text: string | null): string {
  const v = Number(text)
  return text && v > 0 && v < 1 ? text : ''
}

/** The parameters of a query, without those at their default. */
export function comparisonParameters(q: ComparisonQuery): Parameters {
  const out: Parameters = { run: q.runs }
  for (const name of ['baseline', 'level', 'margin', 'by'] as const) if (q[name]) out[name] = q[name]
  for (const name of flags) if (q[name]) out[name] = '1'
  if (q.ignore.length) out['ignore'] = q.ignore
  if (q.gates.length) out['gate'] = q.gates
  return out
}

/** A share from a percentage as it is typed; empty if the text is none. */
export function shareOfPercent(text: string): string {
  const v = Number(text.replace('%', '').trim().replace(',', '.')) / 100
  return v > 0 && v < 1 ? String(Number(v.toPrecision(6))) : ''
}

/** A share in percent, without needless digits. */
export function percentOf(share: number): string {
  return String(Number((share * 100).toPrecision(4)))
}

/** A run with its name. */
export interface NamedRun {
  id: string
  name: string
}

/**
 * The ids of runs grouped into variants, where names differ only in a number at the end: base-1, base-2, new-1 and
 * new-2 are two variants. Null: there is nothing to group.
 */
export function variantsByName(runs: NamedRun[]): string[] | null {
  const by = new Map<string, string[]>()
  for (const { id, name } of runs) {
    const stem = name.replace(/[-_./# ]*(?:run|rep|repeat|trial)?[-_=. ]?\d+$/i, '') || id
    by.set(stem, [...(by.get(stem) ?? []), id])
  }
  if (by.size === runs.length || by.size < 2) return null
  return [...by.values()].map((ids) => ids.join(','))
}
