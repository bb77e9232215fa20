// The page that is shown: what the address of the document says.

import { parse, type Route } from './address.ts'

export { to, type Route } from './address.ts'

export const route: { value: Route } = $state({ value: parse(location.hash) })

addEventListener('hashchange', () => {
  route.value = parse(location.hash)
})

/** Go to a page; replace keeps it out of the history, as for each letter of a search. */
export function go(address: string, replace = false): void {
  if (!replace) {
    location.hash = address
    return
  }
  history.replaceState(history.state, '', address)
  route.value = parse(location.hash)
}
