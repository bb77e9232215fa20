// Bars of requests drawn on a canvas: one by one where they are few, as a picture of shares where
// there are more of them than pixels.

import { channels, faded, type Palette } from './colours.svelte.ts'
import { Grid, within, type Bars, type View } from './bars.ts'

/** From this number of bars on they are summed up. */
const mostSingle = 6000
/** From this height in pixels of a row on there is a gap between rows. */
const gapFrom = 5
/** From this height in pixels of a row on a bar bears its number. */
const labelHeight = 13

/** The colours of phases: gate, prefill, decode, failed. */
export function phaseColours(p: Palette): [string, string, string, string] {
  return [mixed(p.dim, p.ground, 0.55), p.series[1]!, p.series[0]!, p.bad]
}

function mixed(a: string, b: string, share: number): string {
  const [x, y] = [channels(a), channels(b)]
  return `rgb(${x.map((v, i) => Math.round(v * share + y[i]! * (1 - share))).join(', ')})`
}

/** Draws bars; keeps the memory of its grid from frame to frame. */
export class Gantt {
  readonly #grid = new Grid()
  readonly #picture = document.createElement('canvas')
  #image: ImageData | null = null
  #hatch: CanvasPattern | null = null
  #hatched = ''
  #drawn: unknown[] = []

  /** Draw into a part of a canvas of width × height CSS pixels. */
  draw(ctx: CanvasRenderingContext2D, b: Bars, v: View, p: Palette, width: number, height: number, number: (k: number) => string): void {
    const [first, end] = within(b, v.from, v.until)
    const row = height / (v.bottom - v.top)
    if (end - first > mostSingle || row < 2) this.#summed(ctx, b, v, p, width, height)
    else this.#single(ctx, b, v, p, width, height, first, end, number)
  }

  #single(ctx: CanvasRenderingContext2D, b: Bars, v: View, p: Palette, width: number, height: number, first: number, end: number, number: (k: number) => string): void {
    const colours = phaseColours(p)
    const scale = width / (v.until - v.from)
    const row = height / (v.bottom - v.top)
    const thick = Math.max(1, row >= gapFrom ? Math.min(row - 1, 22) : row)
    const x = (at: number) => Math.max(-1, Math.min(width + 1, (at - v.from) * scale))
    const fill = (colour: string | CanvasPattern, from: number, until: number, y: number, least: number) => {
      const [a, z] = [x(from), x(until)]
      if (until < from || z < 0 || a > width) return
      ctx.fillStyle = colour
      ctx.fillRect(a, y, Math.max(least, z - a), thick)
    }
    const hatch = this.#pattern(ctx, p)
    ctx.font = '10px system-ui, sans-serif'
    ctx.textBaseline = 'middle'
    for (let k = first; k < end; k++) {
      if (b.until[k]! < v.from) continue
      const y = ((v.packed ? b.lane[k]! : k) - v.top) * row + (row - thick) / 2
      if (y + thick < 0 || y > height) continue
      if (b.sent[k]! > b.from[k]!) fill(colours[0], b.from[k]!, b.sent[k]!, y, 0)
      if (b.failed[k]) {
        fill(colours[3], b.sent[k]!, b.until[k]!, y, 2)
        if (row >= 4) fill(hatch, b.sent[k]!, b.until[k]!, y, 2)
        continue
      }
      const token = Number.isNaN(b.first[k]!) ? b.until[k]! : b.first[k]!
      fill(colours[1], b.sent[k]!, token, y, 0.75)
      if (b.until[k]! > token) fill(colours[2], token, b.until[k]!, y, 0.75)
      const [a, z] = [x(b.from[k]!), x(b.until[k]!)]
      if (row >= labelHeight && z - a > 44) {
        ctx.fillStyle = p.ground
        ctx.fillText(number(k), Math.max(a, 0) + 4, y + thick / 2 + 0.5)
      }
    }
  }

  #summed(ctx: CanvasRenderingContext2D, b: Bars, v: View, p: Palette, width: number, height: number): void {
    const ratio = devicePixelRatio
    const columns = Math.max(1, Math.round(width * ratio))
    const pixels = Math.max(1, Math.round(height * ratio))
    const [low, high] = [Math.floor(v.top), Math.ceil(v.bottom)]
    // Rows that are higher than a pixel are stretched when the picture is drawn.
    const lines = Math.min(high - low, pixels)
    const whole = lines === high - low ? { ...v, top: low, bottom: high } : v
    // A cursor that moves over the picture does not change it.
    const wanted = [b, p, columns, lines, whole.from, whole.until, whole.top, whole.bottom, whole.packed]
    if (wanted.some((w, i) => w !== this.#drawn[i])) {
      this.#grid.draw(b, whole, columns, lines)
      this.#paint(p, columns, lines, (whole.bottom - whole.top) / lines)
      this.#drawn = wanted
    }
    const row = height / (v.bottom - v.top)
    ctx.save()
    ctx.imageSmoothingEnabled = false
    ctx.drawImage(this.#picture, 0, (whole.top - v.top) * row, width, (whole.bottom - whole.top) * row)
    ctx.restore()
    if (row < gapFrom) return
    ctx.fillStyle = p.ground
    for (let r = low; r <= high; r++) ctx.fillRect(0, Math.round((r - v.top) * row), width, 1)
  }

  // paint mixes the colours of the phases by what they fill; a nearly empty cell is paler.
  #paint(p: Palette, width: number, height: number, rows: number): void {
    if (this.#picture.width !== width || this.#picture.height !== height || !this.#image) {
      this.#picture.width = width
      this.#picture.height = height
      this.#image = new ImageData(width, height)
    }
    const data = this.#image.data
    const { cover, failed } = this.#grid
    const [c0, c1, c2, bad] = phaseColours(p).map(channels) as [Rgb, Rgb, Rgb, Rgb]
    const [g0, g1, g2] = cover
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const i = y * (width + 2) + x
        const o = (y * width + x) * 4
        if (failed[y * width + x]) {
          write(data, o, bad, 255)
          continue
        }
        const [a, b, c] = [g0[i]!, g1[i]!, g2[i]!]
        const sum = a + b + c
        if (sum < 0.004) {
          data[o + 3] = 0
          continue
        }
        data[o] = (c0[0] * a + c1[0] * b + c2[0] * c) / sum
        data[o + 1] = (c0[1] * a + c1[1] * b + c2[1] * c) / sum
        data[o + 2] = (c0[2] * a + c1[2] * b + c2[2] * c) / sum
        data[o + 3] = 70 + 185 * Math.sqrt(Math.min(1, sum / rows))
      }
    }
    this.#picture.getContext('2d')!.putImageData(this.#image, 0, 0)
  }

  // pattern is a hatch over the colour of failures, for readers who cannot distinguish it from others.
  #pattern(ctx: CanvasRenderingContext2D, p: Palette): CanvasPattern {
    if (this.#hatch && this.#hatched === p.ground) return this.#hatch
    const tile = document.createElement('canvas')
    tile.width = tile.height = 6
    const c = tile.getContext('2d')!
    c.strokeStyle = faded(p.ground, 0.75)
    c.lineWidth = 1.5
    for (const shift of [-6, 0, 6]) {
      c.moveTo(shift, 6)
      c.lineTo(shift + 6, 0)
    }
    c.stroke()
    this.#hatched = p.ground
    this.#hatch = ctx.createPattern(tile, 'repeat')!
    return this.#hatch
  }
}

type Rgb = [number, number, number]

function write(data: Uint8ClampedArray, o: number, [r, g, b]: Rgb, alpha: number): void {
  data[o] = r
  data[o + 1] = g
  data[o + 2] = b
  data[o + 3] = alpha
}
