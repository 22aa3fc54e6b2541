/**
 * A dialog over the page. Its button in the corner and Escape always close it, wherever the focus is. If it is closed,
 * a request that was sent is not canceled.
 */
import { type ComponentType, useEffect, useState } from 'react'
import type { DialogProps } from './dialog-box.tsx'

const LATER_MS = 3_000
/** Once it is loaded, a dialog opens at once. React's `lazy` would lose the keys that follow the first opening. */
let box: ComponentType<DialogProps> | undefined

async function load(): Promise<void> {
  box = (await import('./dialog-box.tsx')).DialogBox
}

/** Loads the code of dialogs when the browser has nothing else to do. If that fails, the first dialog tries again. */
export function loadDialogsLater(): void {
  // Safari has no requestIdleCallback.
  const later = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, LATER_MS))
  later(() => void load().catch(() => undefined), { timeout: LATER_MS })
}

export function Dialog(props: DialogProps) {
  const Box = useDialogBox(props.isOpen)
  return props.isOpen && Box ? <Box {...props} /> : null
}

function useDialogBox(isOpen: boolean): typeof box {
  const [problem, setProblem] = useState<unknown>()
  const [, setLoaded] = useState(box !== undefined)
  useEffect(() => {
    if (isOpen && !box) void load().then(() => setLoaded(true), setProblem)
  }, [isOpen])
  // The page then says what is wrong, and offers another try.
  if (problem !== undefined) throw problem
  return box
}
