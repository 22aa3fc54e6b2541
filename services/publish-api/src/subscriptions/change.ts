/** Changes a subscription's settings and status, and deletes it. */
import { setTimeout } from 'node:timers/promises'
import {
  directOwnerOf,
  FantailError,
  SNAPSHOT_AGE_MS_MAX,
  type SubscriptionRecord,
  type SubscriptionStatus,
} from '@fantail/contracts'
import { isFiltered, scopeOf } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { invalid, notFound } from '../http/error-answers.ts'
import { checkChosenTypes } from './chosen-types.ts'
import { filterProblems } from './filters.ts'
import { changeOutbound, type OutboundChange, outboundProblems } from './outbound.ts'
import {
  attributeProblems,
  orderingProblems,
  policyProblems,
  rawProblems,
  type SubscriptionSettings,
  webhookProblems,
} from './subscription-settings.ts'

type Tools = Pick<ApiDeps, 'addressGuard' | 'queues' | 'subscriptions' | 'vault'>
type Reporting = Pick<ApiDeps, 'topicCache' | 'log'>

/** The subscription that the API shows under this id. Throws `not_found`. */
export async function visibleSubscription(deps: Tools, id: string): Promise<SubscriptionRecord> {
  const record = await deps.subscriptions.get(id)
  if (!record || isHidden(record)) throw notFound('subscription')
  return record
}

/** Unsubscribed by its link, or of a topic for direct messages. */
function isHidden({ unsubscribed, topicArn }: SubscriptionRecord): boolean {
  return unsubscribed || directOwnerOf(topicArn) !== undefined
}

/** Callers set the first, and customers in the portal the second. */
type SettingsChange = Partial<SubscriptionSettings> & Pick<SubscriptionRecord, 'customerRate'>

/** Sets the given members. Throws `not_found`, and `validation_failed` if they do not fit together with the others. */
export async function changeSettings(
  deps: Tools,
  id: string,
  given: SettingsChange,
  outbound?: OutboundChange,
): Promise<SubscriptionRecord> {
  const { queues } = deps
  const before = await visibleSubscription(deps, id)
  // The index names the new queue before the policy does, and the old queue until after it no longer does. It may
  // therefore name too many queues, never too few.
  const next = given.redrivePolicy?.deadLetterTargetArn
  if (next !== undefined) await queues.addSource(next, before.arn)
  let old = before
  const record = await deps.subscriptions.update(id, (current) => {
    if (isHidden(current)) throw notFound('subscription')
    refuseMixture(current, given, outbound)
    old = current
    return outbound === undefined ? given : { ...given, ...changeOutbound(deps, current, outbound) }
  })
  const dropped = old.redrivePolicy?.deadLetterTargetArn
  const kept = record.redrivePolicy?.deadLetterTargetArn
  if (dropped !== undefined && dropped !== kept) await queues.removeSource(dropped, record.arn)
  if (!hasSameFilter(old, record)) await setTimeout(SNAPSHOTS_GONE_MS)
  return record
}

/** The check of newly chosen event types. Returns a warning about them. */
export async function checkChangedTypes(
  deps: Pick<ApiDeps, 'eventTypes' | 'topics'> & Tools,
  id: string,
  given: Pick<SettingsChange, 'eventTypes'>,
): Promise<string | undefined> {
  if (!given.eventTypes) return undefined
  const before = await visibleSubscription(deps, id)
  const topic = await deps.topics.get(before.topicArn)
  return topic ? checkChosenTypes(deps, topic, given, before) : undefined
}

/**
 * A changed filter must apply to every message that is dispatched after the change was acknowledged. Workers are
 * notified at once, but a notice may be lost. So the change is acknowledged when no worker can use an older snapshot
 * any more. Rejected: to ask Redis before each match. This would cost every topic, and filters rarely change.
 */
const SNAPSHOTS_GONE_MS = SNAPSHOT_AGE_MS_MAX + 10

function hasSameFilter(a: SubscriptionRecord, b: SubscriptionRecord): boolean {
  if (!isFiltered(a) && !isFiltered(b)) return true
  const of = (record: SubscriptionRecord) =>
    JSON.stringify([record.filterPolicy ?? null, scopeOf(record), record.eventTypes ?? null])
  return of(a) === of(b)
}

function refuseMixture(
  current: SubscriptionRecord,
  given: Partial<SubscriptionSettings>,
  outbound: OutboundChange | undefined,
): void {
  const record = { ...current, ...given }
  const { protocol, rawMessageDelivery: raw, deliveryPolicy } = record
  const problems = [
    ...rawProblems({ protocol, raw }),
    ...policyProblems(deliveryPolicy, { protocol, raw }),
    ...orderingProblems(record),
    ...filterProblems(record),
    ...outboundProblems(outbound, protocol),
    ...webhookProblems(record),
    ...attributeProblems(given.attributes),
  ]
  if (problems.length > 0) throw invalid(problems)
}

/**
 * Pauses or resumes. Repeating it changes nothing. Throws `wrong_state` if the subscription is waiting for its
 * confirmation.
 */
export async function changeStatus(
  deps: Pick<Tools, 'subscriptions'> & Reporting,
  { id, requestId }: { id: string; requestId: string },
  status: Exclude<SubscriptionStatus, 'pending'>,
): Promise<SubscriptionRecord> {
  const record = await deps.subscriptions.update(id, (current) => {
    if (isHidden(current)) throw notFound('subscription')
    if (current.status === 'pending') throw new FantailError('wrong_state', 'it awaits its confirmation')
    if (status === 'paused' || current.status === 'active') return { status }
    return { status, pausedBecause: null, resumes: (current.resumes ?? 0) + 1 }
  })
  reportState(
    deps,
    { requestId },
    record,
    status === 'paused' ? 'subscription.paused' : 'subscription.resumed',
  )
  return record
}

/** Drops the topic from the cache, and logs that the subscription has a new state. */
export function reportState(
  { topicCache, log }: Reporting,
  { requestId }: Pick<Call, 'requestId'>,
  { id: subscriptionId, topicArn, status }: SubscriptionRecord,
  event: string,
): void {
  topicCache.forget(topicArn)
  log.info({ requestId, topicArn, subscriptionId, status }, event)
}

/**
 * Deletes the subscription, if it exists. If its record cannot be read, its dead-letter queue is not known, and goes on
 * naming it as a source.
 */
export async function deleteSubscription(deps: Tools, id: string): Promise<void> {
  const place = await deps.subscriptions.locate(id)
  if (!place || directOwnerOf(place.topicArn) !== undefined) return
  const record = await deps.subscriptions.getReadable(id)
  await deps.subscriptions.delete(id)
  if (record?.redrivePolicy)
    await deps.queues.removeSource(record.redrivePolicy.deadLetterTargetArn, record.arn)
}
