// Keyboard shortcuts. A page binds its keys while it is shown; bind returns a function that unbinds them:
//
//	onMount(() => keys.bind([{ keys: 'j', says: () => t('keys.help'), act: help }]))
//
// Two names with a blank between them are typed one after the other, as in 'g r'. The latest binding
// comes first. No key counts while a field has the focus or a dialog is open.

interface Key {
  /** As in KeyboardEvent.key: 'j', '/', 'Enter', 'g r'. */
  keys: string
  /** The description in the help; without one the key is not listed. */
  says?: () => string
  act: () => void
}

/** How long a first key waits for the second, in milliseconds. */
const secondKeyTimeout = 1000

export class Keyboard {
  private bound: Key[] = []
  private begun = ''
  private until = 0

  /** Bind keys; the result unbinds them. */
  bind(keys: Key[]): () => void {
    this.bound = [...keys, ...this.bound]
    return () => {
      this.bound = this.bound.filter((key) => !keys.includes(key))
    }
  }

  /** The keys with a description, each combination once. */
  listed(): Key[] {
    return this.bound.filter((key, i) => key.says && this.bound.findIndex((other) => other.keys === key.keys) === i)
  }

  /** Take a key that was pressed at a time in milliseconds; false: it does nothing here. */
  press(name: string, now: number): boolean {
    const begun = now < this.until ? this.begun : ''
    this.begun = ''
    for (const typed of begun ? [begun + ' ' + name, name] : [name]) {
      const key = this.bound.find((key) => key.keys === typed)
      if (key) {
        key.act()
        return true
      }
      if (this.bound.some((key) => key.keys.startsWith(typed + ' '))) {
        this.begun = typed
        this.until = now + secondKeyTimeout
        return true
      }
    }
    return false
  }
}

export const keys = new Keyboard()

/** Where an event of the keyboard goes to, as far as it matters here. */
interface Target {
  tagName?: string
  type?: string
  isContentEditable?: boolean
}

const marks = ['checkbox', 'radio', 'button', 'submit', 'reset']

/** Whether a key belongs to the element that has the focus: letters to a field, Enter to a button. */
export function taken(name: string, target: Target | null): boolean {
  const tag = target?.tagName ?? ''
  if (target?.isContentEditable || tag === 'TEXTAREA' || tag === 'SELECT') return true
  if (tag === 'INPUT' && !marks.includes(target?.type ?? 'text')) return true
  return (name === 'Enter' || name === ' ') && ['INPUT', 'A', 'BUTTON', 'SUMMARY'].includes(tag)
}

/** Give the keys of a window to the keyboard; the result ends it. */
export function listen(keyboard: Keyboard = keys): () => void {
  const down = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    if (taken(event.key, event.target as Target | null) || document.querySelector('dialog[open]')) return
    if (keyboard.press(event.key, event.timeStamp)) event.preventDefault()
  }
  addEventListener('keydown', down)
  return () => removeEventListener('keydown', down)
}
