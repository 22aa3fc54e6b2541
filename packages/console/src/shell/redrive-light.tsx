/**
 * The progress of a running redrive or purge, on every page. The task continues when its page is closed. That page and
 * this light show the same read.
 */
import { Link } from '@tanstack/react-router'
import { operations } from '../api/api-calls.ts'
import { useRead } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import css from './frame.module.css'

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
