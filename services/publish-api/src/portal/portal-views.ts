/**
 * Views of a portal session. Each names its members one by one, so a new setting of subscriptions, a queue's
 * name or an address inside the operator's network never reaches a customer by itself.
 */
import { nameOfArn, type QueueMessage, type SubscriptionRecord } from '@fantail/contracts'
import type {
  PortalAttemptList,
  PortalDeadLetterList,
  PortalDeliveryList,
  PortalEndpoint,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import type { SubscriptionView } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import type { AttemptRecord, OutcomeSearch } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { iso } from '../http/record-views.ts'
import { showSubscription } from '../subscriptions/subscription-views.ts'

type FoundMessage = Awaited<ReturnType<OutcomeSearch['find']>>['messages'][number]
type EndpointView = z.input<typeof PortalEndpoint>
type DeliveryView = z.input<typeof PortalDeliveryList>['deliveries'][number]
type AttemptView = z.input<typeof PortalAttemptList>['attempts'][number]
type LetterView = z.input<typeof PortalDeadLetterList>['deadLetters'][number]

export async function showEndpoint(deps: ApiDeps, record: SubscriptionRecord): Promise<EndpointView> {
  return endpointView(await showSubscription(deps, record))
}

/** `shown`: the subscription as keys see it. */
export function endpointView(shown: object): EndpointView {
  const { id, topicArn, endpoint, name, status, filterPolicy, lane, verdict, createdAt } = shown as z.input<
    typeof SubscriptionView
  >
  return {
    id,
    topic: nameOfArn(topicArn),
    endpoint,
    name: name ?? null,
    status,
    filterPolicy,
    waiting: lane.waiting,
    inFlight: lane.inFlight,
    verdict: verdict.code,
    lastStatusCode: verdict.facts.lastStatusCode,
    nextAttemptAt: lane.nextAttemptAt,
    createdAt,
  }
}

export function deliveryView({
  messageId,
  publishedAt,
  at,
  counts,
  ends: [end],
}: FoundMessage): DeliveryView {
  const [state = 'parked'] = Object.keys(counts).filter((name) => counts[name as keyof typeof counts] > 0)
  return {
    messageId,
    publishedAt: iso(publishedAt),
    at: iso(at),
    state: end?.outcome ?? (state as DeliveryView['state']),
    attempts: end?.attempts ?? null,
    statusCode: end?.statusCode ?? null,
    error: codeOf(end?.error ?? null),
  }
}

export function attemptView(record: AttemptRecord, seesBodies: boolean): AttemptView {
  const { messageId, attempt, startedAt, durationMs, statusCode, error, body } = record
  return {
    messageId,
    attempt,
    startedAt: iso(startedAt),
    durationMs,
    statusCode: statusCode ?? null,
    error: codeOf(error),
    answer: seesBodies ? (body ?? null) : null,
  }
}

export function letterView(message: QueueMessage, seesBodies: boolean): LetterView {
  const { body, deadLetter } = message
  if (!deadLetter) throw new Error('only dead letters are shown in the portal')
  const { messageId, publishedAt, deadLetteredAt, reason, statusCode, lastError, attempts } = deadLetter
  return {
    messageId,
    publishedAt: iso(publishedAt),
    deadLetteredAt: iso(deadLetteredAt),
    reason,
    statusCode,
    error: codeOf(lastError),
    attempts,
    body: seesBodies ? body : null,
    bodyBytes: Buffer.byteLength(body),
  }
}

/** The text behind the code can name addresses of the operator's network. */
export function codeOf(error: string | null | undefined): string | null {
  if (error === null || error === undefined) return null
  const [code = ''] = error.split(':', 1)
  return /^[\w-]{1,60}$/.test(code) ? code : 'failed'
}
