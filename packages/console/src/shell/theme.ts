/** The theme: light, dark, or that of the system. It is one of the few things that the browser keeps. */
import { useSyncExternalStore } from 'react'

type Theme = 'system' | 'light' | 'dark'

const KEY = 'fantail.theme'
const ORDER: readonly Theme[] = ['system', 'light', 'dark']
const listeners = new Set<() => void>()

/** The stored choice. If the browser refuses storage, the choice lasts until the page is closed. */
function kept(): Theme {
  try {
    return ORDER.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}

let theme = kept()

function keep(): void {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // Storage is off: see above.
  }
}

export function applyTheme(): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function nextTheme(): void {
  theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? 'system'
  keep()
  applyTheme()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => theme,
  )
}
