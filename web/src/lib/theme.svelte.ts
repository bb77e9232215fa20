// Light and dark: as the system has it, or as chosen. Colours follow by CSS alone (page.css); what
// draws on a canvas reads theme.dark, and draws again when it changes.

import { remember, remembered } from './memory.ts'

export type Choice = 'system' | 'light' | 'dark'
export const choices: Choice[] = ['system', 'light', 'dark']

const system = matchMedia('(prefers-color-scheme: dark)')
const before = remembered('theme')

class Theme {
  choice: Choice = $state(choices.find((one) => one === before) ?? 'system')
  private system = $state(system.matches)

  constructor() {
    system.addEventListener('change', (event) => (this.system = event.matches))
    this.apply()
  }

  /** Whether the page is dark. */
  get dark(): boolean {
    return this.choice === 'system' ? this.system : this.choice === 'dark'
  }

  choose(choice: Choice): void {
    this.choice = choice
    remember('theme', choice)
    this.apply()
  }

  private apply(): void {
    if (this.choice === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = this.choice
  }
}

export const theme = new Theme()
