// The theme: that of the system, or light or dark as chosen. Colours follow by CSS alone (page.css); code
// that draws on a canvas takes them from chart/colours.svelte.ts.

import { remember, remembered } from './storage.ts'

export type Choice = 'system' | 'light' | 'dark'
export const choices: Choice[] = ['system', 'light', 'dark']

class Theme {
  choice: Choice = $state('system')

  constructor() {
    const before = remembered('theme')
    this.choice = choices.find((one) => one === before) ?? 'system'
    this.apply()
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
