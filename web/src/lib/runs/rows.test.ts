import { describe, expect, test } from 'vitest'
import { appended, decode, never } from './rows.ts'
import { encode, request } from './testdata/encode.ts'
import packed from './testdata/rows.packed.txt?raw'

describe('decode', () => {
  test('reads columns', () => {
    const rows = decode(encode([request(0, 10, 50, 90, { prompt: 7 }), { index: 1, due: 5, class: 1 }]))
    expect(rows.header.n).toBe(2)
    expect([...rows.sent]).toEqual([10, never])
    expect([...rows.class]).toEqual([0, 1])
    expect(rows.prompt[0]).toBe(7)
  })

  // The file is that of TestPack in internal/show/view.
  test('reads what a report keeps', () => {
    const file = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)).buffer
    const rows = decode(file)
    expect([...rows.index]).toEqual([0, 2, 1, 3])
    expect([...rows.due]).toEqual([0, 10_000, never, 40_000_000])
    expect([...rows.first]).toEqual([300, never, never, 41_000_000])
    expect([...rows.done]).toEqual([900, 20_000, 16_000, never])
    expect([...rows.prompt]).toEqual([256, 1, 0, 100_000])
    expect(rows.header.classes).toEqual(['', 'timeout'])
    expect(() => decode(file.slice(0, -3))).toThrow(/cut short/)
  })

  test.each([
    ['other bytes', () => new TextEncoder().encode('PTR9....').buffer as ArrayBuffer, /PTR1/],
    ['nothing', () => new ArrayBuffer(0), /PTR1/],
    ['half of it', () => encode([request(0, 1, 2, 3)]).slice(0, -4), /cut short/],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => decode(bytes())).toThrow(message)
  })
})

test('rows that come later are appended, with their classes by name', () => {
  const a = decode(encode([request(0, 1, 2, 3, { class: 1 })], ['', 'timeout']))
  const b = decode(encode([request(4, 5, 6, 7, { class: 1 })], ['', 'http']))
  const all = appended(a, b)
  expect([...all.sent]).toEqual([1, 5])
  expect([...all.class].map((c) => all.header.classes[c])).toEqual(['timeout', 'http'])
  expect(all.header).toMatchObject({ n: 2, next: 1 })
  expect(appended(null, a)).toBe(a)
})
