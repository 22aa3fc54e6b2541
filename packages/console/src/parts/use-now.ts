/** The present time, for texts such as "3 min ago". One timer serves all of them, so one tick draws the page once. */
import { useEffect, useState } from 'react'

const CLOCK_TICK_MS = 1_000
const listeners = new Set<(now: number) => void>()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  const now = Date.now()
  for (const listener of listeners) listener(now)
}

/** Without listeners no timer runs. */
function everySecond(listener: (now: number) => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, CLOCK_TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Epoch ms, to the second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => everySecond(setNow), [])
  return now
}
