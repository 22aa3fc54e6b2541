/** Subscriptions in the form of the REST API: the record, the policy in force, and the state of the lane. */
import {
  type EffectiveDeliveryPolicy,
  nameOfArn,
  type SubscriptionMove,
  type SubscriptionRecord,
  type TopicRecord,
} from '@fantail/contracts'
import type { SubscriptionView } from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import { maskCredentials } from '@fantail/delivery'
import {
  actionOnGone,
  describeOnFailure,
  effectivePolicy,
  PROTOCOL_TRAITS,
  saysWhatIsJson,
} from '@fantail/policy'
import { type LaneFigures, type ShownMember, SUBSCRIPTION, type SUBSCRIPTION_FIELDS } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import { iso, isoOrNull } from '../http/record-views.ts'
import { judgedLane } from '../lanes/lane-views.ts'
import { outboundView } from './outbound.ts'

type Tools = Pick<ApiDeps, 'topics' | 'topicQueues' | 'subscriptions' | 'lanes' | 'laneBoard' | 'clock'>

/** One subscription. Throws `not_found` if it was deleted a moment ago. */
export async function showSubscription(deps: Tools, record: SubscriptionRecord): Promise<object> {
  const [view] = await showSubscriptions(deps, [record])
  if (!view) throw notFound('subscription')
  return view
}

/**
 * A page of subscriptions, without those that were deleted a moment ago. It takes five round trips, whatever the
 * number.
 */
export async function showSubscriptions(deps: Tools, records: SubscriptionRecord[]): Promise<object[]> {
  const topicArns = [...new Set(records.map(({ topicArn }) => topicArn))]
  const [topics, places] = await Promise.all([
    Promise.all(topicArns.map((arn) => deps.topics.get(arn))),
    Promise.all(records.map(({ id }) => deps.subscriptions.locate(id))),
  ])
  const topicByArn = new Map(topicArns.map((arn, index) => [arn, topics[index] ?? undefined]))
  const shown = records.flatMap((record, index) => {
    const topic = topicByArn.get(record.topicArn)
    const place = places[index]
    return topic && place ? [{ record, topic, lane: { subscriptionId: record.id, shard: place.shard } }] : []
  })
  const figures = shown.length === 0 ? [] : await deps.lanes.figures(shown.map(({ lane }) => lane))
  const { laneBoard } = deps
  const [queues, quarantined, undispatchedSince] = await Promise.all([
    ownQueues(deps, records),
    laneBoard.quarantined(),
    laneBoard.undispatchedSince(),
  ])
  const now = deps.clock()
  const { attemptTimeoutMs } = laneBoard
  return shown.flatMap(({ record, topic }, index) => {
    const lane = figures[index]
    const ownQueue = queues.get(record.topicArn)
    const quarantinedAt = quarantined.get(record.id)
    const known = { record, topic, now, ownQueue, quarantinedAt, undispatchedSince, attemptTimeoutMs }
    return lane ? [subscriptionView({ ...known, lane })] : []
  })
}

/** By topic: the queue for dead letters of subscriptions without a redrive policy. */
async function ownQueues(
  { topicQueues }: Pick<Tools, 'topicQueues'>,
  records: SubscriptionRecord[],
): Promise<Map<string, string>> {
  const topicArns = new Set(records.filter(({ deadLetters }) => deadLetters).map(({ topicArn }) => topicArn))
  const found = await Promise.all(
    [...topicArns].map(async (topicArn) => [topicArn, (await topicQueues.find(topicArn))?.queueArn] as const),
  )
  return new Map(found.flatMap(([topicArn, arn]) => (arn === undefined ? [] : [[topicArn, arn]])))
}

interface Shown {
  record: SubscriptionRecord
  topic: TopicRecord
  lane: LaneFigures
  /** The topic's own dead-letter queue, if this subscription uses it. */
  ownQueue: string | undefined
  /** When the first message for it was put into the quarantine. */
  quarantinedAt: number | undefined
  undispatchedSince: number | undefined
  now: number
  attemptTimeoutMs: number
}

function onFailure({ record, topic, ownQueue }: Shown): string {
  const { retentionFloorSeconds } = PROTOCOL_TRAITS[record.protocol]
  const queueArn = record.deadLetters ? ownQueue : record.redrivePolicy?.deadLetterTargetArn
  return describeOnFailure({
    policy: effectivePolicy(topic, record).healthyRetryPolicy,
    retentionSeconds: Math.max(topic.retentionSeconds, retentionFloorSeconds),
    queue: queueArn === undefined ? null : nameOfArn(queueArn),
  })
}

type View = z.input<typeof SubscriptionView>
/** The schema describes every shown field of the table. */
type ShownAsItIs = Pick<View, ShownMember<typeof SUBSCRIPTION_FIELDS>>

function subscriptionView(facts: Shown): View {
  const { record, topic, lane, now, quarantinedAt, undispatchedSince, attemptTimeoutMs } = facts
  const shown: ShownAsItIs = SUBSCRIPTION.shown(record)
  return {
    id: record.id,
    arn: record.arn,
    topicArn: record.topicArn,
    ...shown,
    origin: record.origin ?? 'aws',
    onGone: actionOnGone(record),
    redrivePolicy: record.deadLetters ? {} : record.redrivePolicy,
    onFailure: onFailure(facts),
    endpoint: maskCredentials(record.endpoint),
    pendingEndpoint: isMoving(record, now) ? maskCredentials(record.move.endpoint) : null,
    effectiveDeliveryPolicy: shownPolicy(effectivePolicy(topic, record)),
    outbound: outboundView(record),
    confirmationExpiresAt:
      record.status === 'pending' || isMoving(record, now) ? isoOrNull(record.tokenExpiresAt) : null,
    createdAt: iso(record.createdAt),
    ...judgedLane(record, { figures: lane, topic, now, quarantinedAt, undispatchedSince, attemptTimeoutMs }),
  }
}

/** Without a fixed content type, each body is sent with its real type. */
function shownPolicy(policy: EffectiveDeliveryPolicy): View['effectiveDeliveryPolicy'] {
  return saysWhatIsJson(policy) ? { ...policy, requestPolicy: { headerContentType: null } } : policy
}

type Moving = SubscriptionRecord & { move: SubscriptionMove }

/** A move ends without effect when its token expires. */
function isMoving(record: SubscriptionRecord, now: number): record is Moving {
  return record.move != null && (record.tokenExpiresAt ?? now) > now
}
