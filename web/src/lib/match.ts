/** Whether a path is of a pattern such as runs/: where : is a part that can be anything. */
export function matches(pattern: string, path: string[]): boolean {
  const parts = pattern.split('/')
  return parts.length === path.length && parts.every((part, i) => part === ':' || part === path[i])
}
