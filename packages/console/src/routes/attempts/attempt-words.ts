/** Texts about an attempt for people: the answer, why the attempt came at that time, and what follows. */
import type { AttemptList } from '../../api/api-types.ts'
import { words } from '../../i18n/en.ts'
import { formatMs } from '../../parts/formats.ts'
import type { Tone } from '../../parts/show.tsx'

export type Attempt = AttemptList['attempts'][number]

const w = words.attempts

export function answerOf({ statusCode, error }: Attempt): string {
  return String(statusCode ?? error ?? '–')
}

export function toneOf({ next, statusCode }: Attempt): Tone {
  if (next.decision === 'delivered') return 'good'
  return statusCode === null || statusCode >= 500 ? 'bad' : 'warn'
}

/** `5 s, backoff; 200 ms more, throttle`. */
export function whyText({ because, delayMs, waited, phase }: Attempt): string {
  const cause = because ?? (phase === 'first' ? null : phase)
  const planned = cause && joined(cause, delayMs)
  const isLate = waited !== null && waited.because !== null && waited.because !== because
  return (
    [planned, isLate && w.later(joined(waited.because ?? '', waited.ms))].filter(Boolean).join('; ') || '–'
  )
}

function joined(cause: string, ms: number | null): string {
  return ms === null ? cause : `${cause} ${formatMs(ms)}`
}

/** The next step in words. `expected` is the time of the next attempt. */
export function nextText({ next }: Attempt): string {
  const what = w.decisions[next.decision]
  return next.because === null || next.decision === 'delivered' ? what : `${what}, ${next.because}`
}
