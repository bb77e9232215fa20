// The words of the page, from the catalogue of a language (codes that begin with "page.").

import { remember, remembered } from '../browser/storage.ts'
import { ask, report } from '../net/api.ts'
import type { Hello } from '../net/types.ts'

export const hello: { value: Hello | null } = $state({ value: null })

/** Ask for the words in a language; without one, in the language chosen before, that of the server, or the browser's. */
export async function learn(language = ''): Promise<void> {
  const wanted = language || (report ? '' : remembered('language'))
  hello.value = await ask<Hello>('hello', { lang: wanted, browser: navigator.language.slice(0, 2) })
  document.documentElement.lang = hello.value.language
  if (language && !report) remember('language', language)
}

/** The language in use, for requests with answers in words. */
export function lang(): string {
  return hello.value?.language ?? 'en'
}

/** The words for a code, with the arguments in braces filled in. */
export function t(code: string, args: Record<string, string | number> = {}): string {
  const text = hello.value?.words[code] ?? code
  return text.replace(/\{(\w+)\}/g, (all, name: string) => (name in args ? String(args[name]) : all))
}
