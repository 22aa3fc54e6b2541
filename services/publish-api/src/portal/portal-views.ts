/**
 * Views of a portal session. Each names its members one by one, so a new setting of subscriptions, a queue's
 * name or an address inside the operator's network never reaches a customer by itself.
 */
import { nameOfArn, type QueueMessage, type SubscriptionRecord, type VerdictCode } from '@fantail/contracts'
import {
  type PORTAL_STATES,
  PORTAL_VERDICTS,
  type PortalEndpoint,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import type {
  PortalAttemptList,
  PortalDeadLetterList,
} from '@fantail/contracts/schemas/portal/portal-message-schemas'
import type { SubscriptionView } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import type { AttemptRecord } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { iso } from '../http/record-views.ts'
import { showSubscription } from '../subscriptions/subscription-views.ts'

export type EndpointView = z.input<typeof PortalEndpoint>
type AttemptView = z.input<typeof PortalAttemptList>['attempts'][number]
type LetterView = z.input<typeof PortalDeadLetterList>['deadLetters'][number]

/** Verdicts about the endpoint itself: attempts fail. */
const FAILING: ReadonlySet<VerdictCode> = new Set(['circuitOpen', 'failing', 'hung', 'groupBlocked'])
const SHOWN: ReadonlySet<VerdictCode> = new Set(PORTAL_VERDICTS)

export async function showEndpoint(deps: ApiDeps, record: SubscriptionRecord): Promise<EndpointView> {
  return endpointView(await showSubscription(deps, record))
}

/** `shown`: the subscription as keys see it. */
export function endpointView(shown: object): EndpointView {
  const view = shown as z.input<typeof SubscriptionView>
  const { id, topicArn, endpoint, pendingEndpoint, name, status, lane, verdict, createdAt } = view
  return {
    id,
    topic: nameOfArn(topicArn),
    endpoint,
    pendingEndpoint,
    name,
    status,
    state: stateOf(status, verdict.code),
    eventTypes: view.eventTypes,
    maxPerSecond: view.customerRate,
    perSecond: view.effectiveDeliveryPolicy.throttlePolicy?.maxReceivesPerSecond ?? null,
    waiting: lane.waiting,
    inFlight: lane.inFlight,
    verdict: shownVerdict(verdict.code),
    lastStatusCode: verdict.facts.lastStatusCode,
    nextAttemptAt: lane.nextAttemptAt,
    createdAt,
  }
}

function shownVerdict(code: VerdictCode): EndpointView['verdict'] {
  return SHOWN.has(code) ? (code as EndpointView['verdict']) : 'undispatched'
}

function stateOf(status: EndpointView['status'], verdict: VerdictCode): (typeof PORTAL_STATES)[number] {
  if (status !== 'active') return status
  return FAILING.has(verdict) ? 'failing' : 'working'
}

interface AttemptSeen {
  seesBodies: boolean
  /** Answers of endpoints behind a proxy of the operator are shown to nobody. */
  isProxied: boolean
}

export function attemptView(record: AttemptRecord, { seesBodies, isProxied }: AttemptSeen): AttemptView {
  const { messageId, attempt, startedAt, durationMs, statusCode, error, body, isPrivate } = record
  return {
    messageId,
    attempt,
    startedAt: iso(startedAt),
    durationMs,
    statusCode: statusCode ?? null,
    error: codeOf(error),
    answer: seesBodies && !isProxied && !isPrivate ? (body ?? null) : null,
  }
}

export function letterView(message: QueueMessage, seesBodies: boolean): LetterView {
  const { body, deadLetter, sealed } = message
  const isLocked = sealed === 'locked'
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
    body: seesBodies && !isLocked ? body : null,
    bodyBytes: isLocked ? null : Buffer.byteLength(body),
  }
}

/** The text behind the code can name addresses of the operator's network. */
export function codeOf(error: string | null | undefined): string | null {
  if (error === null || error === undefined) return null
  const [code = ''] = error.split(':', 1)
  return /^[\w-]{1,60}$/.test(code) ? code : 'failed'
}
