import { expect, test } from 'vitest'
import { matches } from './match.ts'

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
