import { expect, test } from 'vitest'
import { layout, quantile } from './figures.ts'
import type { Figure } from '../net/types.ts'

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

test('a quantile is the value that a share does not exceed', () => {
  expect(quantile([0, 0.5, 0.95, 1], [1, 2, 3, 4], 0.9)).toBe(3)
  expect(quantile([0, 0.5], [1, 2], 0.5)).toBe(2)
  expect(quantile([], [], 0.5)).toBeNull()
})
