/**
 * Writes topics, subscriptions and waiting deliveries with the store itself. The result is the same as if a worker had
 * parked the deliveries, but takes no time for attempts.
 */
import {
  createMessageId,
  type DeliveryPolicy,
  MAX_IN_FLIGHT_DEFAULT,
  type Message,
  type Protocol,
  topicArn,
} from '@fantail/contracts'
import {
  deliveryId,
  Lanes,
  messageBody,
  type ParkAs,
  type ParkEntry,
  placeOfSubscription,
  Subscriptions,
  Topics,
} from '@fantail/store'
import type { Redis } from 'ioredis'
import { numberedText } from '../../processes/sequence.ts'

export interface Lane {
  id: string
  shard: number
}

export interface TopicLanes {
  arn: string
  lanes: Lane[]
}

/** The delivery waits for as long as the scenario runs. */
export const RETRY_TOMORROW: ParkAs = {
  as: 'retry',
  delayMs: 86_400_000,
  state: { kind: 'retry', attempts: 2, statusCode: 503, error: null },
}

interface TopicShape {
  name: string
  subscriptions: number
  endpoint(number: number): string
  /** Default: http. */
  protocol?: Protocol
  deliveryPolicy?: DeliveryPolicy
  paused?: boolean
}

const AT_ONCE = 64
/** Entries of one park, as many as a worker sends at once. */
const ENTRIES_MAX = 500

/** Calls `run` as often as `times` says, at most 64 calls at a time. */
export async function each(times: number, run: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < times) await run(next++)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, times) }, work))
}

export async function createTopic(redis: Redis, shape: TopicShape): Promise<TopicLanes> {
  const arn = topicArn(shape.name)
  const subscriptions = new Subscriptions(redis)
  await new Topics(redis).create(arn, {})
  const lanes: Lane[] = []
  await each(shape.subscriptions, async (number) => {
    const { subscription } = await subscriptions.create(inputOf(arn, shape, number))
    if (shape.paused) await subscriptions.update(subscription.id, () => ({ status: 'paused' }))
    lanes.push({ id: subscription.id, shard: placeOfSubscription(subscription.id)?.shard ?? 0 })
  })
  return { arn, lanes }
}

function inputOf(topicArn: string, shape: TopicShape, number: number) {
  const { endpoint, deliveryPolicy, protocol = 'http' } = shape
  return {
    topicArn,
    protocol,
    endpoint: endpoint(number),
    rawMessageDelivery: false,
    deliveryPolicy: deliveryPolicy ?? null,
    redrivePolicy: null,
    maxInFlight: MAX_IN_FLIGHT_DEFAULT,
    confirmation: 'none' as const,
    attributes: {},
  }
}

interface Stored {
  id: Buffer
  body: string
}

/** Messages as publishing makes them. */
export function messagesFor(arn: string, count: number, bytes: number): Stored[] {
  return Array.from({ length: count }, (_, number) => {
    const publishedAt = Date.now()
    const messageId = createMessageId(publishedAt)
    const message: Message = { messageId, topicArn: arn, publishedAt, message: numberedText(number, bytes) }
    return { id: deliveryId(messageId), body: messageBody(message) }
  })
}

/** Parks every message in every one of these lanes of one topic, as if their endpoints had answered before. */
export async function park(redis: Redis, lanes: Lane[], messages: Stored[], as: ParkAs): Promise<void> {
  const store = new Lanes(redis)
  for (const [shard, ofShard] of Map.groupBy(lanes, (lane) => lane.shard)) {
    const perPark = Math.max(1, Math.floor(ENTRIES_MAX / ofShard.length))
    for (let from = 0; from < messages.length; from += perPark) {
      const some = messages.slice(from, from + perPark)
      const entries = some.flatMap(({ id }, message) =>
        ofShard.map(
          (lane): ParkEntry => ({
            subscriptionId: lane.id,
            delivery: id,
            message,
            park: as,
            standing: 'proven',
          }),
        ),
      )
      await store.park(shard, { messages: some, jobs: [{ jobName: '', fence: 0, fields: [], entries }] })
    }
  }
}
