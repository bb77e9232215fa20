import { expect, test } from 'vitest'
import { AxisGroup } from './axisgroup.svelte.ts'

const of = (from: number, to: number, logarithmic = false) => {
  const g = new AxisGroup(logarithmic)
  g.full = [from, to]
  return g
}

test('zoom keeps to the axis, and all of it is no zoom', () => {
  const g = of(0, 100)
  g.zoom(80, 20)
  expect(g.shown).toEqual([20, 80])
  g.zoom(-10, 50)
  expect(g.shown).toEqual([0, 50])
  g.zoom(-10, 200)
  expect(g.window).toBeNull()
  g.zoom(5, 5)
  expect(g.window).toBeNull()
})

test('a step of zoom keeps its middle, or what the cursor is at', () => {
  const g = of(0, 100)
  g.scale(0.5)
  expect(g.shown).toEqual([25, 75])
  g.cursor = 25
  g.scale(0.5)
  expect(g.shown).toEqual([25, 50])
  g.scale(4, 25)
  expect(g.shown).toEqual([25, 100])
})

test('panning stops at the ends with the length kept', () => {
  const g = of(0, 100)
  g.zoom(10, 30)
  g.pan(-1)
  expect(g.shown).toEqual([0, 20])
  g.pan(10)
  expect(g.shown).toEqual([80, 100])
  g.reset()
  g.pan(0.5)
  expect(g.window).toBeNull()
})

test('on a logarithmic axis steps multiply', () => {
  const g = of(1, 10000, true)
  g.scale(0.5)
  expect(g.shown.map(Math.round)).toEqual([10, 1000])
  g.pan(0.5)
  expect(g.shown.map(Math.round)).toEqual([100, 10000])
})

test('a run that goes on has a longer axis, and a zoom stays', () => {
  const g = of(0, 10)
  g.zoom(2, 4)
  g.full = [0, 20]
  expect(g.shown).toEqual([2, 4])
})
