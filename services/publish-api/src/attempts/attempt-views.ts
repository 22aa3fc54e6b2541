/** Recorded attempts in the form of answers. */
import type { AttemptsAnswer } from '@fantail/contracts/schemas/messages/attempt-schemas'
import { type AttemptRecord, redrivesOf } from '@fantail/store'
import type { z } from 'zod'
import { iso, isoOrNull } from '../http/record-views.ts'

type View = z.input<typeof AttemptsAnswer>['attempts'][number]

/** `records`: newest first. The time at which an attempt is due is in the record of the one before. */
export function attemptViews(records: readonly AttemptRecord[], showsBodies: boolean): View[] {
  const dueTimes = new Map(records.map((record) => [keyOf(record, record.attempt + 1), record.nextAt]))
  return records.map((record) => {
    const dueAt = record.dueAt ?? dueTimes.get(keyOf(record, record.attempt)) ?? null
    return viewOf(record, dueAt, showsBodies)
  })
}

function keyOf({ messageId, redrives = 0 }: AttemptRecord, attempt: number): string {
  return `${messageId} ${redrives} ${attempt}`
}

function viewOf(record: AttemptRecord, dueAt: number | null, showsBodies: boolean): View {
  const { messageId, redrives = 0, attempt, phase, path, startedAt, durationMs } = record
  const waited = dueAt === null ? null : waitedFor(record, dueAt)
  return {
    ...{ messageId, redrives: redrivesOf(redrives), attempt, phase, path },
    dueAt: isoOrNull(dueAt),
    startedAt: iso(startedAt),
    durationMs,
    because: record.because ?? null,
    delayMs: record.delayMs ?? null,
    waited,
    statusCode: record.statusCode ?? null,
    error: record.error ?? null,
    detail: record.detail ?? null,
    stage: record.stage ?? null,
    responseHeaders: record.headers ?? null,
    responseBody: (showsBodies && record.body) || null,
    next: {
      decision: record.decision,
      at: isoOrNull(record.nextAt ?? null),
      because: record.nextBecause ?? null,
    },
    leftOut: record.leftOut ?? 0,
  }
}

function waitedFor({ startedAt, heldBy }: AttemptRecord, dueAt: number): View['waited'] {
  return { ms: Math.max(0, Math.round(startedAt - dueAt)), because: heldBy ?? null }
}
