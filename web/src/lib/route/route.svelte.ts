// The route of the page that is shown, by the address of the document.

import { parse, type Route } from './address.ts'
import { start } from '../net/api.ts'

export { to, type Route } from './address.ts'

export const route: { value: Route } = $state({ value: here() })

addEventListener('hashchange', () => {
  route.value = here()
})

function here(): Route {
  return parse(location.hash || '#/' + start)
}

/** Go to a page; replace keeps it out of the history, as for each letter of a search. */
export function go(address: string, replace = false): void {
  if (!replace) {
    location.hash = address
    return
  }
  history.replaceState(history.state, '', address)
  route.value = here()
}
