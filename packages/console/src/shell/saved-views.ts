/**
 * Views that somebody has saved: a name, and the address of a page with its filters. The browser keeps them. They hold
 * no data, but an address can hold names and ids.
 */
import { useSyncExternalStore } from 'react'

const KEY = 'fantail.views'
/** Views that a browser keeps. Past it: the oldest is forgotten. */
const VIEWS_MAX = 30
/** Address of a saved view. Past it: the view is not saved. */
const VIEW_PATH_CHARS_MAX = 2_000

interface SavedView {
  name: string
  /** Path and query of a page of the console: `/console/lanes?state=paused`. */
  path: string
}

const listeners = new Set<() => void>()
let views = read()

function isView(value: unknown): value is SavedView {
  const { name, path } = (value ?? {}) as Record<string, unknown>
  return typeof name === 'string' && typeof path === 'string' && path.startsWith('/console/')
}

/** The browser may refuse storage, or another program may have written under this name. */
function read(): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? found.filter(isView) : []
  } catch {
    return []
  }
}

function keep(next: readonly SavedView[]): void {
  views = next
  try {
    localStorage.setItem(KEY, JSON.stringify(views))
  } catch {
    // Without storage the views last until the page is closed.
  }
  for (const listener of listeners) listener()
}

/** Saves a view, and replaces one with the same name. */
export function saveView(view: SavedView): void {
  if (view.path.length > VIEW_PATH_CHARS_MAX) return
  const others = views.filter(({ name }) => name !== view.name)
  keep([...others, view].slice(-VIEWS_MAX))
}

export function forgetView(name: string): void {
  keep(views.filter((view) => view.name !== name))
}

export function useSavedViews(): readonly SavedView[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => views,
  )
}
