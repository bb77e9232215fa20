import { expect, test } from 'vitest'
import { layout, quantile, soFar } from './figures.ts'
import type { Course, Figure } from './types.ts'

const figure = (name: string, group: string, more: Partial<Figure> = {}): Figure => ({
  name, group, title: name, unit: 'ms', text: '1', value: 0.001, definition: '', doubt: '', low: null, high: null, ...more,
})

test('latencies are rows, statistics are columns, the others are by themselves', () => {
  const l = layout([
    figure('duration', ''), figure('throughput.output', ''), figure('e2el.p99', 'e2el'), figure('ttft.p99', 'ttft', { doubt: 'few' }), figure('ttft.mean', 'ttft', { definition: 'first token' }),
    figure('ttft.p80', 'ttft'), figure('queue.mean', 'queue'), figure('e2el.std', 'e2el', { doubt: 'few' }),
  ])
  expect(l.statistics).toEqual(['mean', 'p80', 'p99', 'std'])
  expect(l.rows.map((r) => [r.name, r.main])).toEqual([['ttft', true], ['e2el', true], ['queue', false]])
  expect(l.rows[0]).toMatchObject({ title: 'TTFT', definition: 'first token' })
  expect(l.others.map((f) => f.name)).toEqual(['throughput.output', 'duration'])
  expect(l.doubts).toEqual(['few'])
})

test('latencies of another tool are all shown', () => {
  expect(layout([figure('latency.p99', 'latency')]).rows.map((r) => r.main)).toEqual([true])
})

test('figures so far are quantiles of the distributions and means of the rates', () => {
  const course = {
    series: [{ name: 'output', title: '', unit: 'tok/s', values: [100, null, 300] }],
    distributions: [{ name: 'ttft', title: 'TTFT', n: 4, share: [0, 0.5, 0.95, 1], value: [0.01, 0.02, 1.2345678, 2], approximate: false }],
  } as unknown as Course
  const found = soFar(course, (name) => name)
  expect(found.map((f) => [f.name, f.text, f.unit])).toEqual([
    ['throughput.output', '200', 'tok/s'],
    ['ttft.median', '20', 'ms'],
    ['ttft.p90', '1235', 'ms'],
    ['ttft.p95', '1235', 'ms'],
    ['ttft.p99', '2000', 'ms'],
  ])
  expect(quantile([], [], 0.5)).toBeNull()
})
