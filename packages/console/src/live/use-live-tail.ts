/** Live events for a screen. A paused screen does not change, and counts the events that arrive. */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { usePaused } from '../api/pause.ts'
import { LiveTail, type TailView } from './live-tail.ts'
import type { TailQuery } from './tab-queries.ts'

interface Shown extends TailView {
  /** The number of events that arrived since the screen was paused. */
  waiting: number
}

export function useLiveTail(query: TailQuery): Shown {
  const key = JSON.stringify(query)
  const [tail, setTail] = useState(() => new LiveTail(query))
  const opened = useRef(key)
  useEffect(() => {
    if (opened.current === key) return
    opened.current = key
    setTail(new LiveTail(JSON.parse(key) as TailQuery))
  }, [key])
  useEffect(() => tail.start(), [tail])
  const view = useSyncExternalStore(tail.subscribe, tail.view)
  const isPaused = usePaused()
  const frozen = useRef<TailView>(view)
  if (!isPaused || view.count < frozen.current.count) frozen.current = view
  const { rows, count } = frozen.current
  return { rows, count, state: view.state, waiting: view.count - count }
}
