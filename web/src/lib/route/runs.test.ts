import { describe, expect, test } from 'vitest'
import { addressOf, direction, filtered, fromAddress, grouped, newest, sortedBy, toAddress, toParameters, type RunsQuery } from './runs.ts'
import { to } from './address.ts'

const read = (text: string): RunsQuery => fromAddress(new URLSearchParams(text))

test.each([
  '',
  'q=chat',
  'q=a+b&model=qwen%2F3&tag=nightly&tag=a%26b',
  'verdict=valid&status=complete&kind=measured&experiment=x&since=7d',
  'load=Poisson+20&sort=-ttft.p99',
  'single=1',
])('an address is kept: %s', (text) => {
  const [, query = ''] = to(['runs'], toAddress(read(text))).split('?')
  expect(read(query)).toEqual(read(text))
  expect([...new URLSearchParams(query)].sort()).toEqual([...new URLSearchParams(text)].sort())
})

test('what is so by default is not in the address', () => {
  expect(to(['runs'], toAddress(read('sort=-started&q=&tag=')))).toBe('#/runs')
})

test('the server is asked for what is there only, with words without blanks around them', () => {
  expect(toParameters(read('q=+chat+&model=m&unknown=1'))).toEqual({ q: 'chat', model: 'm', sort: newest, group: '1' })
  expect(toParameters(read('q=+&tag=a'))).toEqual({ tag: ['a'], sort: newest, group: '1' })
})

test('runs of one experiment are a row, unless single runs are looked for', () => {
  expect(['', 'sort=name', 'q=x&verdict=invalid'].map((text) => grouped(read(text)))).toEqual([true, true, true])
  expect(['single=1', 'experiment=ab', 'sort=-ttft.p99', 'sort=requests'].map((text) => grouped(read(text)))).toEqual([false, false, false, false])
})

test('a row leads to its run, or to what made its runs', () => {
  const group = { name: 'a b', status: '', runs: 2, valid: 2, doubtful: 0, invalid: 0, loads: 1, models: 1 }
  expect(addressOf({ id: 'r', group: null })).toBe('#/runs/r')
  expect(['experiment', 'sweep', 'capacity', ''].map((kind) => addressOf({ id: 'r', group: { ...group, kind } }))).toEqual([
    '#/experiments/a%20b', '#/searches/a%20b', '#/searches/a%20b', '#/runs?experiment=a+b',
  ])
})

test('filters are counted', () => {
  expect(filtered(read('q=x'))).toBe(0)
  expect(filtered(read('q=x&model=m&tag=a&tag=b'))).toBe(3)
})

describe('sorting', () => {
  test('a column first, then the other way around', () => {
    let query = sortedBy(read(''), 'ttft.p99', true)
    expect(direction(query, 'ttft.p99')).toBe('descending')
    query = sortedBy(query, 'ttft.p99', true)
    expect(direction(query, 'ttft.p99')).toBe('ascending')
    query = sortedBy(query, 'name', false)
    expect([direction(query, 'ttft.p99'), direction(query, 'name')]).toEqual([undefined, 'ascending'])
  })
})
