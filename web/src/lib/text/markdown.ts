// The Markdown of our lab notes as a tree, for exactly what a note has: headings, paragraphs, lists, tables,
// code, images on a line of their own, emphasis, and parts that are folded. Whatever else there is stays
// text. Nothing of it becomes markup: the page makes elements of the tree.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: 'strong' | 'emphasis'; inner: Inline[] }

export type Node =
  | { kind: 'heading'; level: number; inner: Inline[] }
  | { kind: 'paragraph'; inner: Inline[] }
  | { kind: 'list'; items: Inline[][] }
  | { kind: 'table'; head: Inline[][]; right: boolean[]; rows: Inline[][][] }
  | { kind: 'code'; text: string }
  | { kind: 'image'; name: string; title: string }
  | { kind: 'folded'; summary: string; inner: Node[] }

/** The tree of a note. */
export function parse(markdown: string): Node[] {
  const lines = markdown.replaceAll('\r\n', '\n').split('\n')
  return blocks(new Reader(lines), false)
}

class Reader {
  private at = 0
  constructor(private readonly lines: string[]) {}

  /** The line after so many others, '' beyond the end. */
  peek(ahead = 0): string {
    return this.lines[this.at + ahead] ?? ''
  }

  next(): string {
    return this.lines[this.at++] ?? ''
  }

  get over(): boolean {
    return this.at >= this.lines.length
  }
}

const heading = /^(#{1,6}) (.*)$/
const fence = /^(`{3,})[\w-]*$/
const image = /^!\[((?:\\.|[^\]\\])*)\]\(([^()\s]+)\)$/
const summary = /^<summary>(.*)<\/summary>$/
const rule = /^\|(?: *:?-+:? *\|)+$/

function blocks(r: Reader, inside: boolean): Node[] {
  const found: Node[] = []
  while (!r.over) {
    const line = r.peek()
    if (inside && line === '</details>') {
      r.next()
      break
    }
    if (line.trim() === '') r.next()
    else found.push(block(r))
  }
  return found
}

function block(r: Reader): Node {
  const line = r.peek()
  const head = heading.exec(line)
  if (head) {
    r.next()
    return { kind: 'heading', level: head[1]!.length, inner: inline(head[2]!) }
  }
  const marks = fence.exec(line)
  if (marks) return code(r, marks[1]!)
  const picture = image.exec(line)
  if (picture) {
    r.next()
    return { kind: 'image', title: plain(inline(picture[1]!)), name: decoded(picture[2]!) }
  }
  const folded = line === '<details>' ? summary.exec(r.peek(1)) : null
  if (folded) {
    r.next()
    r.next()
    return { kind: 'folded', summary: entities(folded[1]!), inner: blocks(r, true) }
  }
  if (line.startsWith('|') && rule.test(r.peek(1))) return table(r)
  if (line.startsWith('- ')) return list(r)
  return paragraph(r)
}

function code(r: Reader, marks: string): Node {
  r.next()
  const lines: string[] = []
  while (!r.over && r.peek() !== marks) lines.push(r.next())
  r.next()
  return { kind: 'code', text: lines.join('\n') }
}

function list(r: Reader): Node {
  const items: Inline[][] = []
  while (r.peek().startsWith('- ')) items.push(inline(r.next().slice(2)))
  return { kind: 'list', items }
}

function table(r: Reader): Node {
  const head = cells(r.next()).map(inline)
  const right = cells(r.next()).map((c) => c.endsWith(':'))
  const rows: Inline[][][] = []
  while (r.peek().startsWith('|')) rows.push(cells(r.next()).map(inline))
  return { kind: 'table', head, right, rows }
}

// cells are those of a row. A bar with a backslash before it belongs to its cell.
function cells(line: string): string[] {
  const parts = line.replace(/^\|/, '').replace(/\|\s*$/, '').match(/(?:\\.|[^|\\])+|(?<=\|)(?=\|)|^(?=\|)/g) ?? []
  return parts.map((c) => c.trim())
}

function paragraph(r: Reader): Node {
  const lines = [r.next()]
  while (!r.over && r.peek().trim() !== '' && !begins(r.peek())) lines.push(r.next())
  return { kind: 'paragraph', inner: inline(lines.join('\n')) }
}

// begins tells whether a line begins another block, or ends a folded part.
function begins(line: string): boolean {
  return heading.test(line) || fence.test(line) || image.test(line) || line.startsWith('- ') || line.startsWith('|') || line === '<details>' || line === '</details>'
}

const special = /\\([!-/:-@[-`{-~])|(`+)|(\*{1,2})|<br>|&(?:lt|gt|amp|quot|#34|#39|#x27);/g

/** The parts of a line. */
export function inline(text: string): Inline[] {
  const found: Inline[] = []
  let rest = 0
  special.lastIndex = 0
  for (let m = special.exec(text); m; m = special.exec(text)) {
    const begin = m.index
    const node = marked(text, m)
    if (!node) continue // a mark that stands alone is text
    add(found, text.slice(rest, begin))
    if (node.kind === 'text') add(found, node.text)
    else found.push(node)
    rest = special.lastIndex
  }
  add(found, text.slice(rest))
  return found
}

function add(found: Inline[], text: string): void {
  if (text === '') return
  const last = found[found.length - 1]
  if (last?.kind === 'text') last.text += text
  else found.push({ kind: 'text', text })
}

// marked is what begins at a mark, and moves behind it; null: nothing does.
function marked(text: string, m: RegExpExecArray): Inline | null {
  const behind = m.index + m[0].length
  if (m[1]) return { kind: 'text', text: m[1] }
  if (m[0] === '<br>') return { kind: 'break' }
  if (m[0].startsWith('&')) return { kind: 'text', text: entities(m[0]) }
  const marks = m[0]
  const end = closing(text, behind, marks)
  if (end < 0) return null
  special.lastIndex = end + marks.length
  const between = text.slice(behind, end)
  if (m[2]) return { kind: 'code', text: between.replace(/^ (.+) $/s, '$1').replaceAll('\\|', '|') }
  const after = special.lastIndex
  const inner = inline(between)
  special.lastIndex = after
  return { kind: marks.length === 2 ? 'strong' : 'emphasis', inner }
}

// closing is where the same marks stand again, as long and not behind a backslash; -1: nowhere.
function closing(text: string, from: number, marks: string): number {
  const mark = marks[0]!
  for (let i = from; i < text.length; i++) {
    if (mark !== '`' && text[i] === '\\') {
      i++
      continue
    }
    if (text[i] !== mark) continue
    let length = 1
    while (text[i + length] === mark) length++
    if (length === marks.length && i > from) return i
    i += length - 1
  }
  return -1
}

const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#34': '"', '#39': "'", '#x27': "'" }

function entities(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|#34|#39|#x27);/g, (_, name: string) => named[name]!)
}

/** The text of parts of a line. */
export function plain(parts: Inline[]): string {
  return parts.map((p) => (p.kind === 'break' ? ' ' : 'inner' in p ? plain(p.inner) : p.text)).join('')
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
