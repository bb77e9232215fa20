import { describe, expect, it } from 'vitest'
import { comparisonParameters, percentOf, readComparison, shareOfPercent, variantsByName } from './comparison.ts'

describe('a question', () => {
  it('is what its address says', () => {
    const address = 'run=base-*&run=new%201&baseline=base-*&margin=0.03&paired=1&ignore=rate&gate=ttft.mean%20%3E%20%2B2%25'
    const q = readComparison(new URLSearchParams(address))
    expect(q).toMatchObject({ runs: ['base-*', 'new 1'], baseline: 'base-*', margin: '0.03', level: '', paired: true, predicted: false })
    expect(comparisonParameters(q)).toEqual({
      run: ['base-*', 'new 1'], baseline: 'base-*', margin: '0.03', paired: '1', ignore: ['rate'], gate: ['ttft.mean > +2%'],
    })
  })

  it('leaves out what is no share, and runs named twice', () => {
    const q = readComparison(new URLSearchParams('run=a&run=a&run=&level=95&margin=x'))
    expect(comparisonParameters(q)).toEqual({ run: ['a'] })
  })

  it('reads percent as it is typed', () => {
    expect([shareOfPercent('3'), shareOfPercent('2.5 %'), shareOfPercent('0,5'), shareOfPercent('100'), shareOfPercent('x')]).toEqual(['0.03', '0.025', '0.005', '', ''])
    expect(percentOf(0.025)).toBe('2.5')
    expect(percentOf(0.1 + 0.2)).toBe('30')
  })
})

describe('runs are put together', () => {
  const named = (...names: string[]) => names.map((name, i) => ({ id: 'r' + i, name }))

  it('by what their names have in common', () => {
    expect(variantsByName(named('base-1', 'new-1', 'base-2', 'new-2'))).toEqual(['r0,r2', 'r1,r3'])
    expect(variantsByName(named('a / run=0', 'a / run=1', 'b'))).toEqual(['r0,r1', 'r2'])
  })

  it('unless that leaves nothing to compare, or changes nothing', () => {
    expect(variantsByName(named('base-1', 'base-2'))).toBeNull()
    expect(variantsByName(named('a', 'b'))).toBeNull()
    expect(variantsByName(named('', ''))).toBeNull()
  })
})
