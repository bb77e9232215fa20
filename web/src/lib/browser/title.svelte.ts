// The title of the document: that of the page if it set one, else the name of its place.

import { route } from '../route/route.svelte.ts'

const given = $state({ path: '', text: '' })

const here = (): string => route.value.path.join('/')

/** Give the page that is shown a title, such as the name of a run. */
export function entitle(text: string): void {
  given.path = here()
  given.text = text
}

/** The title of the page that is shown; empty: it gave none. */
export function title(): string {
  return given.path === here() ? given.text : ''
}
