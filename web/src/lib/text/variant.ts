// The name of a variant, marked if it was simulated.

import type { ComparedVariant } from '../net/types.ts'
import { t } from './words.svelte.ts'

/** The name, followed by (simulated) if it was. */
export function variantName(v: ComparedVariant | undefined): string {
  if (!v) return ''
  return v.simulated ? `${v.name} (${t('runs.kind.simulated')})` : v.name
}
