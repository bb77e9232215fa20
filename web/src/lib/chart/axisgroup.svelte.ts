// Charts that share an axis: zooming or panning one moves all, and so does the cursor.

/** A part of an axis: from, to. */
export type Range = [number, number]

export class AxisGroup {
  /** The visible part of the axis; null: all of it. */
  window: Range | null = $state.raw(null)
  /** The value under the cursor of any chart of the group; null: there is none. */
  cursor: number | null = $state.raw(null)
  /** All of the axis, which panning does not leave. */
  full: Range = $state.raw([0, 1])

  /** On a logarithmic axis a step of zoom multiplies. */
  constructor(readonly logarithmic = false) {}

  /** The visible part. */
  get shown(): Range {
    return this.window ?? this.full
  }

  /** Show a part, clipped to the axis; the full axis resets the zoom. */
  zoom(from: number, to: number): void {
    const [low, high] = this.full
    const range: Range = [Math.max(low, Math.min(from, to)), Math.min(high, Math.max(from, to))]
    if (!(range[1] > range[0]) || this.#length(range) < this.#length(this.full) * 1e-7) return
    this.window = range[0] <= low && range[1] >= high ? null : range
  }

  /** Show more (factor above 1) or less of the axis, with the value at where it is. */
  scale(factor: number, at = this.#middle()): void {
    const [from, to] = this.shown
    this.zoom(this.#move(at, -this.#between(from, at) * factor), this.#move(at, this.#between(at, to) * factor))
  }

  /** Move along the axis by a share of the visible part. */
  pan(share: number): void {
    const [from, to] = this.shown
    const [low, high] = this.full
    let by = share * this.#between(from, to)
    by = Math.max(this.#between(from, low), Math.min(this.#between(to, high), by))
    if (by !== 0) this.zoom(this.#move(from, by), this.#move(to, by))
  }

  /** Show all of the axis. */
  reset(): void {
    this.window = null
  }

  /** Keys for charts of the group: arrows pan, + and - zoom, 0 and Escape show all. Whether it was one. */
  key(e: KeyboardEvent): boolean {
    if (e.ctrlKey || e.metaKey || e.altKey) return false
    switch (e.key) {
      case 'ArrowLeft':
        this.pan(-0.2)
        return true
      case 'ArrowRight':
        this.pan(0.2)
        return true
      case '+':
      case '=':
        this.scale(0.6)
        return true
      case '-':
        this.scale(1 / 0.6)
        return true
      case '0':
        this.reset()
        return true
      case 'Escape':
        if (!this.window) return false
        this.reset()
        return true
      default:
        return false
    }
  }

  #between(a: number, b: number): number {
    return this.logarithmic ? Math.log(b / a) : b - a
  }

  #move(a: number, by: number): number {
    return this.logarithmic ? a * Math.exp(by) : a + by
  }

  #length([from, to]: Range): number {
    return this.#between(from, to)
  }

  #middle(): number {
    const [from, to] = this.shown
    return this.cursor ?? this.#move(from, this.#between(from, to) / 2)
  }
}
