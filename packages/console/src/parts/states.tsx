/** The states of a screen without data: it loads, there is nothing, or the API refused. */
import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'
import { type PartLanguage, usePartLanguage } from './part-language.ts'
import css from './parts.module.css'

export function Skeleton({ rows = 8 }: { rows?: number }) {
  const { loading } = usePartLanguage()
  return (
    <div className={css.skeleton} role="status" aria-label={loading}>
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
  const words = usePartLanguage()
  const { code, message, requestId } = describe(error, words)
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

interface Described {
  code: string
  message: string
  requestId?: string | undefined
}

function describe(error: unknown, words: PartLanguage): Described {
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
  frame,
  gone,
  children,
}: {
  read: Read<T>
  rows?: number | undefined
  /** The part of the screen that is known without the data. It stays while they load, and if that fails. */
  frame?: ReactNode
  /** Shown if the API knows nothing of that name. */
  gone?: ReactNode
  children: (data: T) => ReactNode
}) {
  if (read.data !== undefined && !isGone(read.error)) return children(read.data)
  if (gone && read.error instanceof ApiError && read.error.status === 404) return gone
  return (
    <>
      {frame}
      {read.error ? (
        <Failed error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton rows={rows} />
      )}
    </>
  )
}

/** Whether the data must not be shown any more. A caller who asks too often still sees what there is. */
function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
}
