import { expect, it } from 'vitest'
import { errorSeries, gravity, linesOf, worst } from './conformity.ts'
import type { ConformCell, ConformFigure, Conformity } from '../net/types.ts'

const figure = (title: string, share: number, disavowed = false): ConformFigure => ({
  metric: 'ttft', statistic: 'p99', title, claimed: 1, true: 1, n: 1, error: '', share, bounded: false, low: 0, high: 0, held: false, disavowed,
})
const cell: ConformCell = {
  name: 'x', load: '',
  results: [
    { client: 0, runs: 1, failure: '', figures: [figure('TTFT', 0.001), figure('ITL', -0.2, true)], facts: [{ name: 'CPU', value: '1 %' }] },
    { client: 2, runs: 1, failure: '', figures: [figure('TTFT', -0.02), figure('TPOT', 0.01)], facts: [] },
  ],
}

it('a cell has a row for what some client has', () => {
  const lines = linesOf(cell, 3)
  expect(lines.map((l) => l.title)).toEqual(['TTFT', 'ITL', 'TPOT', 'CPU'])
  expect(lines[0]!.figures.map((f) => f?.share ?? null)).toEqual([0.001, null, -0.02])
  expect(lines[3]!.facts).toEqual(['1 %', '', ''])
})

it('what a client does not stand by is not its worst error', () => {
  expect([worst(cell, 0)?.title, worst(cell, 1), worst(cell, 2)?.share]).toEqual(['TTFT', null, -0.02])
})

it('errors are told apart by their size', () => {
  expect([0.009, -0.01, 0.049, -0.05].map((s) => gravity(figure('', s)))).toEqual(['good', 'doubt', 'doubt', 'bad'])
  expect(gravity(figure('', 1, true))).toBe('dim')
})

it('lines have the colour of their client, broken where tokens come spread', () => {
  const c = { errors: [{ client: 1, arrivals: 'spread', title: 'a', streams: [1, 8], shares: [0.1, 0.2] }] } as unknown as Conformity
  expect(errorSeries(c, (t, n, s) => `${t} ${n} ${s}`)).toEqual([
    { name: 'a', colour: 1, joined: true, dashed: true, spots: [{ x: 1, y: 0.1, says: 'a 1 0.1', hollow: true }, { x: 8, y: 0.2, says: 'a 8 0.2', hollow: true }] },
  ])
})
