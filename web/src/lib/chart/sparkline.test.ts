import { expect, test } from 'vitest'
import { points } from './sparkline.ts'

test.each([
  [[0, 5, 10], '0,20 50,10 100,0'],
  [[7], '0,0'],
  [[0, 0], '0,20 100,20'],
  [[], ''],
])('%o', (values, expected) => {
  expect(points(values, 100, 20)).toBe(expected)
})
