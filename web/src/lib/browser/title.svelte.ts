// The title of the document: what a page says of itself, else the name of its place.

import { route } from '../route/route.svelte.ts'

const said = $state({ path: '', text: '' })

const here = (): string => route.value.path.join('/')

/** Give the page that is shown a title, such as the name of a run. */
export function entitle(text: string): void {
  said.path = here()
  said.text = text
}

/** The title of the page that is shown; empty: it gave none. */
export function title(): string {
  return said.path === here() ? said.text : ''
}
