/** Small pieces that show one value: a status, a figure, a time, a list of pairs. */
import { type ReactNode, useEffect, useState } from 'react'
import { formatNumber } from './formats.ts'
import { usePartLanguage } from './part-language.ts'
import css from './parts.module.css'

export type Tone = 'good' | 'warn' | 'bad' | undefined

/** The sign has the same meaning as the colour. */
const SIGNS: Record<NonNullable<Tone>, string> = { good: '●', warn: '◆', bad: '▲' }

export function Badge({ tone, children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={tone ? `${css.badge} ${css[tone]}` : css.badge}>
      <span aria-hidden="true">{tone ? SIGNS[tone] : '○'}</span>
      {children}
    </span>
  )
}

export function Figures({ children }: { children: ReactNode }) {
  return <dl className={css.figures}>{children}</dl>
}

export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: string }) {
  return (
    <div className={css.figure}>
      <dt>{label}</dt>
      <dd>
        {typeof value === 'number' ? formatNumber(value) : value} {note && <small>{note}</small>}
      </dd>
    </div>
  )
}

export function Pairs({ pairs }: { pairs: readonly (readonly [label: string, value: ReactNode])[] }) {
  return (
    <dl className={css.pairs}>
      {pairs.map(([label, value]) => [<dt key={label}>{label}</dt>, <dd key={`${label}=`}>{value}</dd>])}
    </dl>
  )
}

interface WhenProps {
  at: string | null | undefined
  empty?: string
  /** When something is due: a time that has passed means that it is due now. */
  isDue?: true
}

/** A time relative to now. The exact time appears on hover and for screen readers. */
export function When({ at, isDue, empty }: WhenProps) {
  const { never, relativeTime, exactTime } = usePartLanguage()
  const now = useNow()
  if (!at) return <>{empty ?? never}</>
  const left = Date.parse(at) - now
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(isDue ? Math.max(0, left) : left)}
    </time>
  )
}

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

/**
 * The present time, for texts such as "3 min ago". One timer serves all of them, so one tick draws the page once. Epoch
 * ms, to the second.
 */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => everySecond(setNow), [])
  return now
}
