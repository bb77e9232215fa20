import { describe, expect, test } from 'vitest'
import { at, count, duration, inScale, instant, plain, scaleOf, share, show, shown, signedPercent, titled } from './format.ts'

describe('show', () => {
  test.each([
    [0.0123, 's', '12.3\u00a0ms'],
    [0.000045678, 's', '45.7\u00a0µs'],
    [12e-9, 's', '12\u00a0ns'],
    [1.5, 's', '1.50\u00a0s'],
    [0.99999, 's', '1.00\u00a0s'],
    [123.456, 's', '123\u00a0s'],
    [0, 's', '0\u00a0s'],
    [2, 's', '2\u00a0s'],
    [1234.5, 'tok/s', '1,235\u00a0tok/s'],
    [1234567, 'tok/s', '1.23\u00a0Mtok/s'],
    [19.876, '/s', '19.9\u00a0/s'],
    [0.1234, 'share', '12.3%'],
    [87.654, '%', '87.7%'],
    [3 * 2 ** 30, 'B', '3\u00a0GiB'],
    [1.98e9, 'Hz', '1.98\u00a0GHz'],
    [0.0042, 'J', '4.20\u00a0mJ'],
    [350.2, 'W', '350\u00a0W'],
    [61.234, '°C', '61.2\u00a0°C'],
    [12345, '', '12,345'],
    [2.56789, '', '2.57'],
    [-0.002, 's', '−2\u00a0ms'],
    [null, 's', '–'],
    [NaN, 's', '–'],
    [Infinity, 'tok/s', '–'],
  ])('%s %s is %s', (value, unit, text) => {
    expect(show(value, unit)).toBe(text)
  })

  test('a count is not rounded', () => {
    expect(shown(99999, '').text).toBe('99,999')
  })
})

test('an axis has one unit, that of its largest value', () => {
  const scale = scaleOf(0.25, 's')
  expect(scale.unit).toBe('ms')
  expect(inScale(0.0004, scale)).toBe('0.400')
  expect(inScale(0.25, scale)).toBe('250')
  expect(inScale(null, scale)).toBe('–')
  expect(titled('TTFT', scale.unit)).toBe('TTFT (ms)')
})

test.each([
  [1234567, '1,234,567'],
  [0.00012345, '0.000123'],
  [9.999, '10.0'],
  [-0.0000000000001, '0'],
])('plain(%s) is %s', (value, text) => {
  expect(plain(value)).toBe(text)
})

test.each([
  [0, '0%'],
  [0.00001, '<0.01%'],
  [0.0012, '0.12%'],
  [0.5, '50%'],
  [0.99995, '>99.99%'],
  [0.99958, '99.95%'],
  [1, '100%'],
])('a share of %s is %s', (value, text) => {
  expect(share(value)).toBe(text)
})

test.each([
  [0.25, '250\u00a0ms'],
  [45, '45\u00a0s'],
  [200, '3\u00a0min 20\u00a0s'],
  [7500, '2\u00a0h 5\u00a0min'],
  [3599.7, '1\u00a0h'],
])('a duration of %s is %s', (value, text) => {
  expect(duration(value)).toBe(text)
})

test('counts and instants', () => {
  expect([at(0.0534), at(12.3), at(null), at(-1, 1)]).toEqual(['0.053', '12.300', '–', '−1.0'])
  expect(count(100000)).toBe('100,000')
  expect(count(-1)).toBe('−1')
  expect(instant('')).toBe('–')
  expect(instant('2025-03-01T14:05:09')).toBe('2025-03-01 14:05')
  expect(instant('2025-03-01T14:05:09', true)).toBe('2025-03-01 14:05:09')
})

test('differences have their sign', () => {
  expect([0.123, -0.0123, 0, 0.00001].map(signedPercent)).toEqual(['+12%', '−1.2%', '0.0%', '0.0%'])
})
