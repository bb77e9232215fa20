import { expect, test } from 'vitest'
import { matches, parse, to } from './address.ts'

test.each([
  ['runs', ['runs'], true],
  ['runs', ['runs', 'x'], false],
  ['runs/:', ['runs', 'x'], true],
  ['runs/:', ['runs'], false],
  ['runs/:', ['notes', 'x'], false],
  ['experiments/:/legs', ['experiments', 'a b', 'legs'], true],
])('%s of %o: %s', (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected)
})

test.each([
  [['runs'], {}, '#/runs'],
  [['runs', 'a/b ?#'], {}, '#/runs/a%2Fb%20%3F%23'],
  [['compare'], { run: ['A', 'B'], none: '' }, '#/compare?run=A&run=B'],
])('%o with %o is %s, and is read back', (path, query, expected) => {
  const address = to(path, query)
  expect(address).toBe(expected)
  expect(parse(address).path).toEqual(path)
  expect(parse(address).query.getAll('run')).toEqual('run' in query ? query.run : [])
})

test.each([
  ['', []],
  ['#/', []],
  ['#/runs/%zz', ['runs', '%zz']],
])('%s is read as it is', (hash, expected) => {
  expect(parse(hash).path).toEqual(expected)
})
