// The colours of page.css as values that a canvas can draw with. They follow the theme: an effect that
// reads palette.value draws again when the theme changes, and in the light theme for print.

export interface Palette {
  ground: string
  raised: string
  line: string
  text: string
  dim: string
  focus: string
  good: string
  bad: string
  doubt: string
  series: string[]
  dark: boolean
}

const names = ['ground', 'raised', 'line', 'text', 'dim', 'focus', 'good', 'bad', 'doubt'] as const
const seriesCount = 6

export const palette: { value: Palette } = $state({ value: read() })

// read resolves the variables: light-dark() is only computed for a property that is a colour.
function read(): Palette {
  const probe = document.createElement('span')
  probe.hidden = true
  document.documentElement.append(probe)
  const of = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const found = Object.fromEntries(names.map((name) => [name, of(name)])) as Omit<Palette, 'series' | 'dark'>
  const series = Array.from({ length: seriesCount }, (_, i) => of(`series-${i + 1}`))
  probe.remove()
  const [r, g, b] = channels(found.ground)
  return { ...found, series, dark: r + g + b < 384 }
}

function refresh(): void {
  palette.value = read()
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh)
new MutationObserver(refresh).observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })

// A canvas keeps its pixels when print style sheets apply, so the theme changes before.
let before: string | null = null
addEventListener('beforeprint', () => {
  before = document.documentElement.getAttribute('data-theme')
  document.documentElement.setAttribute('data-theme', 'light')
})
addEventListener('afterprint', () => {
  if (before === null) document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', before)
})

/** The red, green and blue of a computed colour, from 0 to 255. */
export function channels(colour: string): [number, number, number] {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number)
  return [r, g, b]
}

/** A colour at an opacity. */
export function faded(colour: string, alpha: number): string {
  return `rgba(${channels(colour).join(', ')}, ${alpha})`
}

/** The colour of the i-th series; beyond the last they begin again, with another dash. */
export function seriesColour(p: Palette, i: number): string {
  return p.series[i % p.series.length]!
}
