import { describe, expect, it } from 'vitest'
import { spreadText } from './spread.ts'
import type { SweepSpread } from '../net/types.ts'

const spread = (value: number, rest: Partial<SweepSpread> = {}): SweepSpread => ({ n: 1, value, sd: null, low: null, high: null, predicted: false, ...rest })

describe('spreads', () => {
  const text = (...args: Parameters<typeof spreadText>): string => spreadText(...args).replaceAll('\u00a0', ' ')
  it('have one unit, and no digit that is finer than the spread', () => {
    expect(text(spread(0.0123456), 's')).toBe('12.3 ms')
    expect(text(spread(0.0123456, { sd: 0.00045 }), 's')).toBe('12.35 ± 0.45 ms')
    expect(text(spread(2373.4, { sd: 460.2 }), 'tok/s')).toBe('2,373 ± 460 tok/s')
    expect(text(spread(2.19871, { sd: 0.00037 }), '/s', true)).toBe('2.199 ± <0.001')
    expect(text(spread(0.01, { low: 0.008, high: 0.0125, predicted: true }), 's')).toBe('10 (8 – 12.5) ms')
    expect(text(undefined, 's')).toBe('–')
  })
})
