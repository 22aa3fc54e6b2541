/** Routes that show the recorded attempts of a subscription, or of one of its deliveries. */
import { seesBodies } from '@fantail/access'
import { RECORDING_DEFAULT } from '@fantail/contracts'
import { AttemptsAnswer } from '@fantail/contracts/schemas/messages/attempt-schemas'
import { MessageReference } from '@fantail/contracts/schemas/messages/message-schemas'
import { SubscriptionReference } from '@fantail/contracts/schemas/shared-schemas'
import { type AttemptRecord, redrivesOf } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso, isoOrNull } from '../../http/record-views.ts'
import { visibleSubscription } from '../../subscriptions/change.ts'
import { messageIdOf } from './message-routes.ts'

const ABOUT =
  'Attempts are recorded where the topic asks for it (`recordAttempts`), at most 300 a second by each worker, 20 successes of a subscription among them. The newest ' +
  '100 of each subscription are kept, within a bound of bytes over all. A worker writes them once a second, so a crash ' +
  'loses the last ones. A key without the scope `bodies` sees no bodies.'

export function attemptRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listAttempts',
      method: 'GET',
      path: '/v1/subscriptions/{id}/attempts',
      params: { id: SubscriptionReference },
      tag: 'Subscriptions',
      summary: 'List recorded attempts of a subscription',
      description: ABOUT,
      answers: { 200: { description: 'The newest attempts, newest first', schema: AttemptsAnswer } },
      errors: ['not_found'],
      handle: (call) => readAttempts(deps, call, () => true),
    }),
    endpoint({
      id: 'listDeliveryAttempts',
      method: 'GET',
      path: '/v1/messages/{messageId}/deliveries/{id}/attempts',
      params: { messageId: MessageReference, id: SubscriptionReference },
      tag: 'Messages',
      summary: 'List recorded attempts of a delivery',
      description: `${ABOUT} Attempts of the message that are older than \`keptSince\` are not kept.`,
      answers: { 200: { description: 'Its attempts, newest first', schema: AttemptsAnswer } },
      errors: ['not_found'],
      handle: (call) => {
        const messageId = messageIdOf(call)
        return readAttempts(deps, call, (attempt) => attempt.messageId === messageId)
      },
    }),
  ]
}

async function readAttempts(
  deps: ApiDeps,
  call: Call,
  isWanted: (attempt: AttemptRecord) => boolean,
): Promise<Answer> {
  const { id, topicArn } = await visibleSubscription(deps, idOf(call))
  const [topic, records] = await Promise.all([deps.topics.get(topicArn), deps.attempts.read(id)])
  if (!topic) throw notFound('subscription')
  const showsBodies = seesBodies(call.caller)
  return ok({
    recording: topic.recordAttempts ?? RECORDING_DEFAULT,
    bodies: showsBodies ? 'shown' : 'withheld',
    keptSince: isoOrNull(records.at(-1)?.startedAt ?? null),
    attempts: attemptViews(records, showsBodies).filter((_, i) => isWanted(records[i] as AttemptRecord)),
  })
}

type View = z.input<typeof AttemptsAnswer>['attempts'][number]

/**
 * Recorded attempts in the form of answers. `records`: newest first. The time at which an attempt is due is in the
 * record of the one before.
 */
function attemptViews(records: readonly AttemptRecord[], showsBodies: boolean): View[] {
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
  const waited = dueAt === null ? null : waitOf(record, dueAt)
  return {
    ...{ messageId, redrives: redrivesOf(redrives), attempt, phase, path },
    dueAt: isoOrNull(dueAt),
    startedAt: iso(startedAt),
    durationMs,
    cause: record.cause ?? null,
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
      cause: record.nextCause ?? null,
    },
    leftOut: record.leftOut ?? 0,
  }
}

function waitOf({ startedAt, waitedFor }: AttemptRecord, dueAt: number): View['waited'] {
  return { ms: Math.max(0, Math.round(startedAt - dueAt)), cause: waitedFor ?? null }
}
