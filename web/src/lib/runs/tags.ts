// Tags of runs: reading them, and changing those of several runs at once.

import type { Labels, Row } from '../net/types.ts'

/** The tags with some more, in alphabetical order, each once. */
export function withTags(tags: string[], more: string[]): string[] {
  return [...new Set([...tags, ...more])].sort()
}

/** The tags of a text as it is typed: parted by commas, without blanks around them. */
export function tagsOf(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean)
}

/** The tags that all of some runs have. */
export function common(rows: Row[]): string[] {
  const [first, ...others] = rows
  return (first?.tags ?? []).filter((tag) => others.every((row) => row.tags.includes(tag)))
}

/** The labels of a run after some tags that were common were changed to others. */
export function retagged(row: Row, before: string[], after: string[]): Labels {
  return { tags: withTags(row.tags.filter((tag) => !before.includes(tag)), after), remark: row.remark }
}
