import { describe, expect, test } from 'vitest'
import { Keyboard, taken } from './keys.ts'

function board(...names: string[]): { keyboard: Keyboard; done: string[] } {
  const keyboard = new Keyboard()
  const done: string[] = []
  keyboard.bind(names.map((keys) => ({ keys, says: () => keys, act: () => done.push(keys) })))
  return { keyboard, done }
}

describe('keys', () => {
  test('a key does what it is bound to, another nothing', () => {
    const { keyboard, done } = board('j', '/')
    expect(keyboard.press('j', 0)).toBe(true)
    expect(keyboard.press('k', 1)).toBe(false)
    expect(done).toEqual(['j'])
  })

  test('two keys one after the other', () => {
    const { keyboard, done } = board('g r', 'g e', 'r')
    expect(keyboard.press('g', 0)).toBe(true)
    expect(keyboard.press('r', 900)).toBe(true)
    expect(done).toEqual(['g r'])
  })

  test('the second key comes too late: it counts by itself', () => {
    const { keyboard, done } = board('g r', 'r')
    keyboard.press('g', 0)
    keyboard.press('r', 1500)
    expect(done).toEqual(['r'])
  })

  test('a second key that continues nothing counts by itself, and may begin anew', () => {
    const { keyboard, done } = board('g r', 'j')
    keyboard.press('g', 0)
    keyboard.press('j', 10)
    keyboard.press('g', 20)
    keyboard.press('g', 30)
    keyboard.press('r', 40)
    expect(done).toEqual(['j', 'g r'])
  })

  test('what was bound last comes first, until it is unbound', () => {
    const { keyboard, done } = board('/')
    const unbind = keyboard.bind([{ keys: '/', act: () => done.push('page') }])
    keyboard.press('/', 0)
    unbind()
    keyboard.press('/', 1)
    expect(done).toEqual(['page', '/'])
  })

  test('the list names each combination once, and none without words', () => {
    const { keyboard } = board('/', 'j')
    keyboard.bind([{ keys: '/', says: () => 'search', act: () => {} }, { keys: 'ArrowDown', act: () => {} }])
    expect(keyboard.listed().map((key) => key.keys + ' ' + key.says?.())).toEqual(['/ search', 'j j'])
  })
})

test.each([
  ['j', { tagName: 'INPUT', type: 'search' }, true],
  ['j', { tagName: 'INPUT', type: 'checkbox' }, false],
  ['j', { tagName: 'TEXTAREA' }, true],
  ['j', { tagName: 'SELECT' }, true],
  ['j', { tagName: 'DIV', isContentEditable: true }, true],
  ['j', { tagName: 'A' }, false],
  ['Enter', { tagName: 'A' }, true],
  ['Enter', { tagName: 'BUTTON' }, true],
  [' ', { tagName: 'INPUT', type: 'checkbox' }, true],
  ['Enter', { tagName: 'TR' }, false],
  ['j', null, false],
])('%s in %o belongs to it: %s', (name, target, expected) => {
  expect(taken(name, target)).toBe(expected)
})
