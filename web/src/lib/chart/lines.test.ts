import { expect, test } from 'vitest'
import { clock, extent, lineText, aligned, logLabels, logTicks, positive, tickLabels, timeLabels } from './lines.ts'

test('lines with places of their own share one axis', () => {
  expect(aligned([0, 1], [{ name: 'a', y: [1, null] }])).toEqual([[0, 1], [1, null]])
  expect(aligned([0, 2], [{ name: 'a', y: [1, 2] }, { name: 'b', x: [1, 2], y: [5, null] }])).toEqual([
    [0, 1, 2],
    [1, undefined, 2],
    [undefined, 5, null],
  ])
  expect(aligned([], [{ name: 'a', x: [3], y: [1] }, { name: 'b', x: [1], y: [2] }])).toEqual([[1, 3], [undefined, 1], [2, undefined]])
})

test('extent and what a logarithmic axis shows', () => {
  expect(extent([3, null, undefined, NaN, -1])).toEqual([-1, 3])
  expect(extent([null])).toBeNull()
  expect(positive([0, -1, 2, null, undefined])).toEqual([null, null, 2, null, undefined])
})

test('ticks have as many decimals as tell them apart', () => {
  expect(tickLabels([0.1, 0.15, 0.2], 0.05, { factor: 1000, unit: 'ms' })).toEqual(['100', '150', '200'])
  expect(tickLabels([0, 0.0005], 0.0005, { factor: 1000, unit: 'ms' })).toEqual(['0.0', '0.5'])
  expect(tickLabels([-10, 0, 10000], 10, { factor: 1, unit: '' })).toEqual(['−10', '0', '10,000'])
})

test('ticks of a logarithmic axis have their units', () => {
  expect(logLabels([0.0009, 0.001, 0.002, 0.01, 1], 's', 200)).toEqual([null, '1\u00a0ms', null, '10\u00a0ms', '1\u00a0s'])
  expect(logLabels([0.001, 0.002, 0.003, 0.005, 0.01], 's', 600)).toEqual(['1\u00a0ms', '2\u00a0ms', null, '5\u00a0ms', '10\u00a0ms'])
  expect(logLabels([0.002, 0.003, 0.004], 's', 600)).toEqual(['2\u00a0ms', '3\u00a0ms', '4\u00a0ms'])
})

test('labels of a logarithmic axis do not lie over each other', () => {
  const ticks = [0.007, 0.008, 0.009, 0.01, 0.02]
  const of = (room: number) => logLabels(ticks, 's', room).map((text) => text?.replace('\u00a0', ' ') ?? '')
  expect(of(600)).toEqual(['7 ms', '8 ms', '9 ms', '10 ms', '20 ms'])
  expect(of(240)).toEqual(['7 ms', '', '', '10 ms', '20 ms'])
  expect(of(10)).toEqual(['', '', '', '10 ms', ''])
})

test('an axis of time has its unit', () => {
  const of = (ticks: number[], step: number, until: number) => timeLabels(ticks, step, until).map((text) => text.replace('\u00a0', ' '))
  expect(of([0, 0.5], 0.5, 2)).toEqual(['0.0 s', '0.5 s'])
  expect(of([0, 100], 100, 600)).toEqual(['0 s', '100 s'])
  expect(of([0, 1800, 5400], 1800, 7200)).toEqual(['0:00 min', '30:00 min', '1:30:00 h'])
})

test.each([
  [65, '1:05'],
  [3725, '1:02:05'],
  [-5, '−0:05'],
  [0, '0:00'],
])('%s seconds on a clock are %s', (seconds, text) => {
  expect(clock(seconds)).toBe(text)
})

test('a line in words', () => {
  expect(lineText({ name: 'p50', y: [0.001, 0.005, null] }, 's', 'to')).toBe('p50 1\u00a0ms to 5\u00a0ms')
  expect(lineText({ name: 'p50', y: [null] }, 's', 'to')).toBe('p50 –')
})

test('ticks of a logarithmic axis lie within it, wherever it begins', () => {
  expect(logTicks(0.0065, 0.032)).toEqual([0.007, 0.008, 0.009, 0.01, 0.02, 0.03])
  expect(logTicks(0.2, 0.9)).toEqual([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
  expect(logTicks(1e-12, 1).length).toBe(13)
  for (const [low, high] of [[0, 1], [-1, 1], [2, 2], [NaN, 1], [1, Infinity]] as const) expect(logTicks(low, high)).toEqual([])
})
