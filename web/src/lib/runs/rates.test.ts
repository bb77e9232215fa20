import { expect, test } from 'vitest'
import { nextRate, type Rates } from './rates.ts'
import type { Progress } from '../net/types.ts'

const told = (at: number | null, tokens: number): Progress => ({ at, tokens }) as Progress

function rates(...all: [number | null, number][]): number[] {
  return all.reduce<Rates | undefined>((before, [at, tokens]) => nextRate(before, told(at, tokens)), undefined)?.values ?? []
}

test.each([
  [[[null, 0]], []],
  [[[1, 100]], []],
  [[[1, 100], [2, 150], [4, 250]], [50, 50]],
  // too soon after the one before: counted with the next
  [[[1, 100], [1.5, 130], [2, 150]], [50]],
  [[[1, 100], [null, 0], [2, 200]], [100]],
] as [[number | null, number][], number[]][])('%o gives %o', (all, expected) => {
  expect(rates(...all)).toEqual(expected)
})

test('only the latest are kept', () => {
  const all = Array.from({ length: 100 }, (_, i): [number, number] => [i, i * i])
  expect(rates(...all)).toHaveLength(60)
  expect(rates(...all).at(-1)).toBe(99 * 99 - 98 * 98)
})
