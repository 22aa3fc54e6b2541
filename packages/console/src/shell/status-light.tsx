/** How current the page is, in words and by colour. */
import { Link } from '@tanstack/react-router'
import { operations } from '../api/api-calls.ts'
import type { Connection } from '../api/liveness.ts'
import { usePaused } from '../api/pause.ts'
import { useRead } from '../api/use-api.ts'
import { useConnection } from '../api/use-connection.ts'
import { words } from '../i18n/en.ts'
import { formatSeconds } from '../parts/formats.ts'
import { useNow } from '../parts/use-now.ts'
import css from './frame.module.css'

const HEARTBEAT_MS = 5_000

export function StatusLight() {
  // The heartbeat, because some screens send no requests.
  useRead(operations.getReadiness, {}, { everyMs: HEARTBEAT_MS })
  const connection = useConnection()
  const isPaused = usePaused()
  const now = useNow()
  const state = isPaused && connection.state === 'live' ? 'paused' : connection.state
  return (
    <span className={css.light} data-state={state} role="status">
      <span aria-hidden="true" className={css.lamp} />
      {state === 'paused' ? words.status.paused : textOf(connection, now)}
    </span>
  )
}

function textOf(connection: Connection, now: number): string {
  if (connection.state !== 'stale') return words.status[connection.state]
  const { since } = connection
  if (since === undefined) return words.status.silent
  return words.status.stale(formatSeconds(Math.max(1, Math.round((now - since) / 1_000))))
}

/**
 * The progress of a running redrive or purge, on every page. The task continues when its page is closed. That page and
 * this light show the same read.
 */
export function RedriveLight() {
  const { data } = useRead(operations.listRedrives, { query: { status: 'running', limit: 1 } })
  const [first] = data?.redrives ?? []
  const one = useRead(
    operations.getRedrive,
    { path: { id: first?.id ?? '' } },
    { enabled: first !== undefined },
  )
  const task = first && one.data?.id === first.id ? one.data : first
  if (!task || task.endedAt !== null) return null
  const { id, action, matched, moved, skipped } = task
  const percent = matched === 0 ? 100 : Math.min(100, Math.round(((moved + skipped) / matched) * 100))
  return (
    <Link to="/redrives/$id" params={{ id }} className={css.tool}>
      {words.redrive.light(words.redrive.lights[action], percent)}
    </Link>
  )
}
