/** Whether the screens are paused. A paused console sends no reads. */
import { useSyncExternalStore } from 'react'

let isPaused = false
const listeners = new Set<() => void>()

export function togglePause(): void {
  isPaused = !isPaused
  for (const listener of listeners) listener()
}

export function usePaused(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isPaused,
  )
}
