/**
 * Errors of the API in words for customers. The API's own texts are English and for engineers, so its codes and the
 * names of fields choose the words.
 */
import { ApiError } from '../../api/api-error.ts'
import type { PortalWords } from '../../i18n/portal/portal-en.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'

interface TroubleProps {
  error: unknown
  onRetry?: () => void
  /** The meaning of a conflict here. */
  conflict?: string | undefined
}

export function Trouble({ error, onRetry, conflict }: TroubleProps) {
  const { words } = useLanguage()
  if (!error) return null
  const requestId = error instanceof ApiError && error.status >= 500 ? error.requestId : undefined
  return (
    <div className={css.notice} data-kind="bad" role="alert">
      <p>{problemOf(conflict ? { ...words.problems, conflict } : words.problems, error)}</p>
      {requestId && <p className={`${css.quiet} ${css.small}`}>{words.parts.request(requestId)}</p>}
      {onRetry && (
        <Button kind="plain" onPress={onRetry}>
          {words.parts.retry}
        </Button>
      )}
    </div>
  )
}

const CODES = [
  'validation_failed',
  'not_found',
  'subscription_exists',
  'conflict',
  'wrong_state',
  'redrive_active',
  'quota_exceeded',
  'rate_limited',
  'body_gone',
  'forbidden',
] as const

export function problemOf(problems: PortalWords['problems'], error: unknown): string {
  if (!(error instanceof ApiError)) return problems.other
  if (error.status === 0) return problems.noAnswer
  if (error.status === 503) return problems.storage
  const code = CODES.find((known) => known === error.code)
  return code === undefined ? problems.other : problems[code]
}

export type Field = keyof PortalWords['problems']['fields']

/** The problem of one field, or of one item of a list: `eventTypes.0`. undefined: there is none. */
export function fieldProblem(
  { fields }: PortalWords['problems'],
  error: unknown,
  field: Field,
): string | undefined {
  return pathsOf(error).includes(field) ? fields[field] : undefined
}

/** Every problem of the error is one of these fields, beside which it is shown. */
export function isOfFields(error: unknown, fields: readonly Field[]): boolean {
  const paths = pathsOf(error)
  return paths.length > 0 && paths.every((path) => fields.some((field) => field === path))
}

function pathsOf(error: unknown): string[] {
  if (!(error instanceof ApiError)) return []
  return error.details.map(({ path }) => path.split('.', 1)[0] ?? '')
}

/** Why an attempt failed, for the middle of a sentence. undefined: nothing is known of it. */
export function failureOf(
  { failures, messages }: PortalWords,
  { statusCode, error }: { statusCode: number | null; error: string | null },
): string | undefined {
  if (statusCode !== null) return messages.answered(statusCode)
  if (error === null) return undefined
  return Object.hasOwn(failures, error) ? failures[error as keyof typeof failures] : failures.other
}
