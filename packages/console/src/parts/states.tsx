/** The states of a screen without data: it loads, there is nothing, or the API refused. */
import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { words } from '../i18n/en.ts'
import { Button } from './button.tsx'
import css from './parts.module.css'

export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div className={css.skeleton} role="status" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  )
}

/** Names the one next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css.empty}>
      <strong>{title}</strong>
      {children}
    </div>
  )
}

export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { code, message, requestId } = describe(error)
  return (
    <div className={css.notice} data-kind="bad" role="alert">
      <strong>{code}</strong> {message}
      {requestId && <div className={`${css.quiet} ${css.small} mono`}>{words.request(requestId)}</div>}
      {onRetry && (
        <div>
          <Button kind="plain" onPress={onRetry}>
            {words.retry}
          </Button>
        </div>
      )}
    </div>
  )
}

function describe(error: unknown): { code: string; message: string; requestId?: string | undefined } {
  if (!(error instanceof ApiError)) return { code: words.failed, message: String(error) }
  if (error.status === 0) return { code: words.noAnswer, message: words.noAnswerWhy }
  return error
}

export interface Read<T> {
  data: T | undefined
  error: unknown
  refetch: () => unknown
}

/** If a refresh fails, the last data stays on the screen. The status light shows how old it is. */
export function Loaded<T>({
  read,
  rows,
  gone,
  children,
}: {
  read: Read<T>
  rows?: number | undefined
  /** Shown if the API knows nothing of that name. */
  gone?: ReactNode
  children: (data: T) => ReactNode
}) {
  if (read.data !== undefined && !isGone(read.error)) return children(read.data)
  if (gone && read.error instanceof ApiError && read.error.status === 404) return gone
  if (read.error) return <Failed error={read.error} onRetry={() => void read.refetch()} />
  return <Skeleton rows={rows} />
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}
