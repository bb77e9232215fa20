// A long list of rows of one height, of which only those in view are in the document. The server
// is asked for windows of rows.

/** Rows of a list, as Array.slice has it. */
export interface Range {
  from: number
  to: number
}

/**
 * The rows to draw: those in view and some beyond it. above is how far the list has been scrolled
 * out at the top (negative: it begins below the top), in pixels as the rest.
 */
export function inView(above: number, view: number, height: number, total: number, beyond: number): Range {
  const bound = (row: number): number => Math.min(Math.max(row, 0), total)
  const first = Math.floor(above / height)
  const last = Math.ceil((above + view) / height)
  return { from: bound(first - beyond), to: bound(last + beyond) }
}

/** The offsets of the windows of a size that have rows of a range. */
export function windowsOf(range: Range, size: number): number[] {
  const offsets: number[] = []
  for (let at = Math.floor(range.from / size) * size; at < range.to; at += size) offsets.push(at)
  return offsets
}

/** The row that a list of windows by offset has at an index. */
export function rowAt<R>(windows: ReadonlyMap<number, R[]>, size: number, index: number): R | undefined {
  return windows.get(Math.floor(index / size) * size)?.[index % size]
}

/** The index of the first row that is such; -1: none of those that are there. */
export function indexOf<R>(windows: ReadonlyMap<number, R[]>, is: (row: R) => boolean): number {
  for (const [offset, rows] of windows) {
    const at = rows.findIndex(is)
    if (at >= 0) return offset + at
  }
  return -1
}

/** How far to scroll so that a row comes into view, in whole pixels, given the height of the cover at the top. */
export function toReveal(index: number, above: number, view: number, height: number, covered: number): number {
  const top = index * height
  if (top < above + covered) return Math.floor(top - above - covered)
  if (top + height > above + view) return Math.ceil(top + height - above - view)
  return 0
}
