import { expect, test } from 'vitest'
import { ago } from './ago.ts'

const now = Date.parse('2026-03-10T12:00:00Z')

test.each([
  ['2026-03-10T12:00:00Z', '0 sec. ago'],
  ['2026-03-10T11:59:01Z', '59 sec. ago'],
  ['2026-03-10T11:59:00Z', '1 min. ago'],
  ['2026-03-10T13:30:00+02:00', '30 min. ago'],
  ['2026-03-10T10:01:00Z', '1 hr. ago'],
  ['2026-03-08T11:00:00Z', '2 days ago'],
  ['2026-01-01T00:00:00Z', '2 mo. ago'],
  ['2024-03-01T00:00:00Z', '2 yr. ago'],
  ['2026-03-10T12:00:00.9Z', '0 sec. ago'],
  ['2026-03-10T12:00:30Z', 'in 30 sec.'],
  ['', ''],
  ['yesterday', ''],
])('%s', (then, expected) => {
  expect(ago(then, now, 'en')).toBe(expected)
})

test('in Chinese', () => {
  expect(ago('2026-03-10T11:57:00Z', now, 'zh')).toBe('3分钟前')
})
