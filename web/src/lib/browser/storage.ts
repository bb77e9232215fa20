// Choices stored in the browser. It may refuse, as in a private window or a file: then a choice holds as
// long as the page is open.

/** A choice made before; empty: none. */
export function remembered(name: string): string {
  try {
    return localStorage.getItem('pitot.' + name) ?? ''
  } catch {
    return ''
  }
}

/** Remember a choice. */
export function remember(name: string, value: string): void {
  try {
    localStorage.setItem('pitot.' + name, value)
  } catch {
    // it is forgotten with the page
  }
}
