import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Follower, type Environment, type Source } from './follower.ts'

class Fake implements Source {
  readyState = 0
  onopen: (() => void) | null = null
  onerror: (() => void) | null = null
  listeners: Record<string, (event: { data: string }) => void> = {}
  constructor(readonly url: string) {}
  addEventListener(name: string, on: (event: { data: string }) => void): void {
    this.listeners[name] = on
  }
  close(): void {
    this.readyState = 2
  }
  opens(): void {
    this.readyState = 1
    this.onopen?.()
  }
  fails(readyState: number): void {
    this.readyState = readyState
    this.onerror?.()
  }
}

function stage() {
  const opened: Fake[] = []
  const seen: unknown[] = []
  const heard: boolean[] = []
  const state = { hidden: false, visibilityChanged: () => {}, missed: 0 }
  const around: Environment = {
    open: (url) => {
      opened.push(new Fake(url))
      return opened[opened.length - 1]!
    },
    hidden: () => state.hidden,
    visibilityChanged: (on) => {
      state.visibilityChanged = on
      return () => (state.visibilityChanged = () => {})
    },
    heard: (there) => heard.push(there),
  }
  const follower = new Follower('api/events', { runs: (data) => seen.push(data) }, () => state.missed++, around)
  const hide = (hidden: boolean): void => {
    state.hidden = hidden
    state.visibilityChanged()
  }
  return { opened, seen, heard, state, follower, hide, last: () => opened[opened.length - 1]! }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a follower', () => {
  test('gives events as data, and misses none of a stream that opens at once', () => {
    const s = stage()
    s.last().opens()
    s.last().listeners['runs']?.({ data: '{"added":["a"]}' })
    expect(s.seen).toEqual([{ added: ['a'] }])
    expect([s.state.missed, s.heard]).toEqual([0, [true]])
  })

  test('says that the server is gone, and asks for what it missed when the stream is back', () => {
    const s = stage()
    s.last().opens()
    s.last().fails(0)
    s.last().fails(0)
    expect([s.state.missed, s.heard]).toEqual([0, [true, false, false]])
    s.last().opens()
    expect([s.opened.length, s.state.missed, s.heard.at(-1)]).toEqual([1, 1, true])
  })

  test('asks every 2 s where the stream is refused, and tries it again after 30 s', () => {
    const s = stage()
    s.last().fails(2)
    vi.advanceTimersByTime(1999)
    expect(s.state.missed).toBe(0)
    vi.advanceTimersByTime(28_000)
    expect([s.state.missed, s.opened.length]).toEqual([14, 1])
    vi.advanceTimersByTime(2000)
    expect([s.state.missed, s.opened.length]).toEqual([15, 2])
    s.last().opens()
    vi.advanceTimersByTime(60_000)
    expect(s.state.missed).toBe(16)
  })

  test('is closed while the page is hidden', () => {
    const s = stage()
    s.last().opens()
    s.hide(true)
    expect(s.last().readyState).toBe(2)
    s.hide(false)
    s.last().opens()
    expect([s.opened.length, s.state.missed]).toEqual([2, 1])
  })

  test('does nothing more after its end', () => {
    const s = stage()
    s.follower.end()
    expect(s.last().readyState).toBe(2)
    s.hide(false)
    vi.advanceTimersByTime(60_000)
    expect([s.opened.length, s.state.missed]).toEqual([1, 0])
  })
})
