import { describe, expect, it } from 'vitest'
import { inline, parse, plain, type Inline } from './markdown.ts'

const text = (s: string): Inline => ({ kind: 'text', text: s })

describe('the Markdown of a note', () => {
  it('has headings, paragraphs and lists', () => {
    expect(parse('# A\\*b\n\none\ntwo\n\n- **x**: 1\n- y\n')).toEqual([
      { kind: 'heading', level: 1, inner: [text('A*b')] },
      { kind: 'paragraph', inner: [text('one\ntwo')] },
      { kind: 'list', items: [[{ kind: 'strong', inner: [text('x')] }, text(': 1')], [text('y')]] },
    ])
  })

  it('has tables, whose bars may be text and whose cells may be empty', () => {
    expect(parse('|  | b |\n| --- | --: |\n| `a \\| b` | 1<br>2 |\n| x \\| y |  |\n\nend')).toEqual([
      {
        kind: 'table', head: [[], [text('b')]], right: [false, true],
        rows: [
          [[{ kind: 'code', text: 'a | b' }], [text('1'), { kind: 'break' }, text('2')]],
          [[text('x | y')], []],
        ],
      },
      { kind: 'paragraph', inner: [text('end')] },
    ])
    expect(parse('| | |\n|---|---|\n| a | b |')[0]).toMatchObject({ kind: 'table', head: [[], []], right: [false, false] })
  })

  it('has code between marks that do not occur in it', () => {
    expect(parse('````text\n```\n# no\n````\n')).toEqual([{ kind: 'code', text: '```\n# no' }])
    expect(inline('`` a`b `` and `c`')).toEqual([{ kind: 'code', text: 'a`b' }, text(' and '), { kind: 'code', text: 'c' }])
  })

  it('has images and folded parts', () => {
    expect(parse('<details>\n<summary>a &lt;b&gt; &#34;c&#34;</summary>\n\n![x \\[y\\]](note/1-%E5%9B%BE.svg)\n\n</details>\n\nafter')).toEqual([
      { kind: 'folded', summary: 'a <b> "c"', inner: [{ kind: 'image', title: 'x [y]', name: 'note/1-图.svg' }] },
      { kind: 'paragraph', inner: [text('after')] },
    ])
  })
})

describe('what is hostile stays text', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[x](javascript:alert(1))',
    '<details open ontoggle=alert(1)>',
    '<summary>x</summary>',
    '&lt;b&gt; &#x3c;script&#x3e;',
    'a ** b * c ` d',
    '*',
    '**',
  ])('%s', (hostile) => {
    const [node, ...others] = parse(hostile)
    expect(others).toEqual([])
    expect(node?.kind).toBe('paragraph')
    const said = node?.kind === 'paragraph' ? node.inner : []
    expect(said.every((p) => p.kind === 'text')).toBe(true)
    expect(plain(said)).toBe(hostile.replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
  })

  it('keeps what was escaped', () => {
    expect(plain(inline('\\*\\*a\\*\\* \\`b\\` \\<c\\> \\[d\\](e) \\# \\~ \\\\'))).toBe('**a** `b` <c> [d](e) # ~ \\')
    expect(inline('**a \\*\\* b**')).toEqual([{ kind: 'strong', inner: [text('a ** b')] }])
  })

  it('ends, whatever is missing', () => {
    expect(parse('```\nopen').length).toBe(1)
    expect(parse('<details>\n<summary>s</summary>\n\nopen').length).toBe(1)
    expect(parse('</details>').length).toBe(1)
    expect(parse('| a |').length).toBe(1)
    const deep = '<details>\n<summary>s</summary>\n\n'.repeat(50)
    expect(parse(deep).length).toBe(1)
  })

  it('keeps all letters of long lines of marks', () => {
    for (const mark of ['*', '`', '|', '_']) expect(plain(inline(mark.repeat(5_000)))).toBe(mark.repeat(5_000))
  })
})
