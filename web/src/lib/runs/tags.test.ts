import { expect, test } from 'vitest'
import { common, retagged, tagsOf, withTags } from './tags.ts'
import type { Row } from '../net/types.ts'

const row = (...tags: string[]): Row => ({ tags, remark: 'r' }) as Row

test('tags as they are typed', () => {
  expect(tagsOf(' nightly, release 1 ,,')).toEqual(['nightly', 'release 1'])
  expect(tagsOf(' ')).toEqual([])
})

test('each tag once, in order', () => {
  expect(withTags(['b', 'a'], ['c', 'a'])).toEqual(['a', 'b', 'c'])
})

test('what runs have in common', () => {
  expect(common([row('a', 'b'), row('b', 'c')])).toEqual(['b'])
  expect(common([row('a')])).toEqual(['a'])
  expect(common([])).toEqual([])
})

test('runs keep the tags that they do not share', () => {
  expect(retagged(row('a', 'b'), ['b'], ['c'])).toEqual({ tags: ['a', 'c'], remark: 'r' })
  expect(retagged(row('a', 'b'), ['b'], ['b'])).toEqual({ tags: ['a', 'b'], remark: 'r' })
})
