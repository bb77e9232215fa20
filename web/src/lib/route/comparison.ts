// What is asked of a comparison or a note: as the address of the page has it,
// #/compare?run=base-*&run=new-*&baseline=base-*, and as the server is asked, which is the same.

export interface Question {
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
export type Flag = (typeof flags)[number]

export type Parameters = Record<string, string | string[]>

/** Read the query of an address. */
export function questionOf(address: URLSearchParams): Question {
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

// shareOr is a share between 0 and 1 as it is written; what is none is left out.
function shareOr(text: string | null): string {
  const v = Number(text)
  return text && v > 0 && v < 1 ? text : ''
}

/** The question as an address, or the parameters of the server, without what is so by default. */
export function parametersOf(q: Question): Parameters {
  const out: Parameters = { run: q.runs }
  for (const name of ['baseline', 'level', 'margin', 'by'] as const) if (q[name]) out[name] = q[name]
  for (const name of flags) if (q[name]) out[name] = '1'
  if (q.ignore.length) out['ignore'] = q.ignore
  if (q.gates.length) out['gate'] = q.gates
  return out
}

/** Percent as somebody types it, as a share; empty for what is none. */
export function shareOfPercent(text: string): string {
  const v = Number(text.replace('%', '').trim().replace(',', '.')) / 100
  return v > 0 && v < 1 ? String(Number(v.toPrecision(6))) : ''
}

/** A share in percent, without needless digits. */
export function percentOf(share: number): string {
  return String(Number((share * 100).toPrecision(4)))
}

/** A run with its name, to be put together with others. */
export interface Named {
  id: string
  name: string
}

/**
 * The names of runs put together where only a number at the end tells them apart: those of base-1, base-2
 * and new-1, new-2 are two variants. Null: nothing can be put together.
 */
export function together(runs: Named[]): string[] | null {
  const by = new Map<string, string[]>()
  for (const { id, name } of runs) {
    const stem = name.replace(/[-_./# ]*(?:run|rep|repeat|trial)?[-_=. ]?\d+$/i, '') || id
    by.set(stem, [...(by.get(stem) ?? []), id])
  }
  if (by.size === runs.length || by.size < 2) return null
  return [...by.values()].map((ids) => ids.join(','))
}
