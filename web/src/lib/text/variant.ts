// The name of a variant where it must not be taken for a measured one.

import type { ComparedVariant } from '../net/types.ts'
import { t } from './words.svelte.ts'

/** The name, with a note if it was simulated. */
export function called(v: ComparedVariant | undefined): string {
  if (!v) return ''
  return v.simulated ? `${v.name} (${t('runs.kind.simulated')})` : v.name
}
