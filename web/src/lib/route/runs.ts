// The query of the list of runs, read from the address of the page (#/runs?q=chat&tag=nightly), and as
// parameters of a request.

import type { Parameters } from '../net/api.ts'
import type { Row } from '../net/types.ts'
import { to } from './address.ts'

/** The filters with one value. */
export const single = ['model', 'load', 'verdict', 'status', 'kind', 'experiment', 'since'] as const
export type Filter = (typeof single)[number]

export interface RunsQuery {
  q: string
  filters: Partial<Record<Filter, string>>
  tags: string[]
  /** Each run of an experiment or a search has a row of its own. */
  single: boolean
  /** The name of a column; with - before it: descending. */
  sort: string
}

export const newest = '-started'

/** Read the query of an address; unknown parameters are dropped. */
export function fromAddress(address: URLSearchParams): RunsQuery {
  const filters: RunsQuery['filters'] = {}
  for (const name of single) {
    const value = address.get(name)
    if (value) filters[name] = value
  }
  return { q: address.get('q') ?? '', filters, tags: address.getAll('tag').filter(Boolean), single: address.get('single') === '1', sort: address.get('sort') || newest }
}

/** The query as parameters of the address, without those at their default. */
export function toAddress(query: RunsQuery): Parameters {
  return { q: query.q, ...query.filters, tag: query.tags, single: query.single ? '1' : '', sort: query.sort === newest ? '' : query.sort }
}

/** The query as parameters of a request. */
export function toParameters(query: RunsQuery): Parameters {
  const asked: Parameters = { ...query.filters, sort: query.sort }
  if (query.q.trim()) asked['q'] = query.q.trim()
  if (query.tags.length) asked['tag'] = query.tags
  if (grouped(query)) asked['group'] = '1'
  return asked
}

/** Whether the runs of an experiment or a search are one row: not where a figure of each run sorts them. */
export function grouped(query: RunsQuery): boolean {
  return !query.single && !query.filters.experiment && ['started', 'name'].includes(query.sort.replace(/^-/, ''))
}

/** The page of a row: of a run, of what made a group, or the list of its runs. */
export function addressOf(row: Pick<Row, 'id' | 'group'>): string {
  const { group } = row
  if (!group) return to(['runs', row.id])
  if (group.kind === '') return to(['runs'], { experiment: group.name })
  return to([group.kind === 'experiment' ? 'experiments' : 'searches', group.name])
}

/** How many filters there are, the search not counted. */
export function filtered(query: RunsQuery): number {
  return Object.keys(query.filters).length + query.tags.length
}

/** The query sorted by a column: the other way around where it is already. */
export function sortedBy(query: RunsQuery, column: string, descendingFirst: boolean): RunsQuery {
  const first = descendingFirst ? '-' + column : column
  const other = descendingFirst ? column : '-' + column
  return { ...query, sort: query.sort === first ? other : first }
}

/** How a column is sorted, as aria-sort has it. */
export function direction(query: RunsQuery, column: string): 'ascending' | 'descending' | undefined {
  return query.sort === column ? 'ascending' : query.sort === '-' + column ? 'descending' : undefined
}

/** The signs of the ways to sort. */
export const arrows = { ascending: '\u2191', descending: '\u2193' }
