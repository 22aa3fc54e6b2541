/** Shortcuts. A key works only while nobody types in a field. `g` and a letter open a page. */
import { useEffect } from 'react'

/** After `g`, the second letter must come within this time. */
const SECOND_KEY_MS = 1_200

export const GO_TO = [
  { key: 'o', to: '/', page: 'overview' },
  { key: 'l', to: '/lanes', page: 'lanes' },
  { key: 'm', to: '/messages', page: 'messages' },
  { key: 'e', to: '/tail', page: 'tail' },
  { key: 't', to: '/topics', page: 'topics' },
  { key: 'd', to: '/dlq', page: 'deadLetters' },
  { key: 'q', to: '/queues', page: 'queues' },
  { key: 'b', to: '/bulk', page: 'bulkTasks' },
  { key: 'k', to: '/access', page: 'access' },
  { key: 's', to: '/system', page: 'system' },
] as const

interface Shortcuts {
  goTo: (to: (typeof GO_TO)[number]['to']) => void
  openPalette: () => void
  openHelp: () => void
  togglePause: () => void
}

export function useShortcuts(shortcuts: Shortcuts): void {
  useEffect(() => {
    let prefixAt = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        shortcuts.openPalette()
        return
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isBusy(event.target)) return
      const isSecond = event.timeStamp - prefixAt < SECOND_KEY_MS
      prefixAt = 0
      const target = isSecond ? GO_TO.find(({ key }) => key === event.key) : undefined
      if (target) shortcuts.goTo(target.to)
      else if (event.key === 'g') prefixAt = event.timeStamp
      else if (!runSingle(event.key, shortcuts)) return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shortcuts])
}

/** Whether the key did something. */
function runSingle(key: string, shortcuts: Shortcuts): boolean {
  switch (key) {
    case '?':
      shortcuts.openHelp()
      return true
    case 'p':
      shortcuts.togglePause()
      return true
    case '/':
      return focusFilter()
    case 'j':
      return moveRow(1)
    case 'k':
      return moveRow(-1)
    default:
      return false
  }
}

/** Whether somebody types in a field, or a dialog is open. */
function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], [role="alertdialog"]')) return true
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}

function focusFilter(): boolean {
  const filter = document.querySelector<HTMLInputElement>(
    'main input[type="search"], main input[type="text"]',
  )
  filter?.focus()
  return filter !== null
}

/** Moves the focus to the first link of the next or previous row. Enter then opens it. */
function moveRow(step: 1 | -1): boolean {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main tbody tr a[data-row]')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  const next = links[at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  return next !== undefined
}
