/** Dead letters of real subscriptions in a real queue, and the deliveries that leave their lanes. */
import { createMessageId, type DeadLetter, type Message, queueArn, topicArn } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import {
  ArchivePages,
  type BlockStore,
  deadLetterItemId,
  deliveryId,
  FailedEnds,
  KeptMessages,
  Lanes,
  OutcomeLog,
  parseDeliveryId,
  Queues,
  type Redis,
  RedriveBatches,
  Redrives,
  ResendBatches,
  type SettleTo,
  SHARD_COUNT,
  StorageGuard,
  Subscriptions,
  shardBase,
  shardOf,
  Topics,
} from '@fantail/store'
import { connectPatiently, skewKey, startRedis, type TestRedisOptions } from '@fantail/test-kit'
import { FilterMatches } from './tasks/filter-matches.ts'

export const SOURCE = queueArn('dead')
const TOPIC = topicArn('orders')
/** Its lanes are in another shard than those of the first topic. */
export const DISTANT_TOPIC =
  Array.from({ length: SHARD_COUNT }, (_, n) => topicArn(`orders-${n}`)).find(
    (arn) => shardOf(arn) !== shardOf(TOPIC),
  ) ?? TOPIC

export type Fixture = Awaited<ReturnType<typeof startFixture>>

export async function startFixture(options: TestRedisOptions = {}) {
  const server = await startRedis(options)
  // The test's own commands may take as long as a busy machine needs.
  // A connection of Fantail gives up on a Redis that a busy machine leaves without a processor.
  const redis = connectPatiently(server.url)
  const fixture = {
    server,
    redis,
    ...storesOn(redis),
    topics: new Topics(redis),
    /** Every delivery that has left a lane: `<subscription id> <message id> <generation>`. */
    delivered: [] as string[],
    reset: async () => {
      await redis.flushall()
      objects.clear()
      fixture.delivered.length = 0
      await fixture.queues.put(SOURCE, {})
      for (const topic of [TOPIC, DISTANT_TOPIC]) await fixture.topics.put(topic, {})
    },
    stop: async () => {
      redis.disconnect()
      await server.stop()
    },
  }
  return fixture
}

/** The place of the archive's blocks, by name. */
export const objects = new Map<string, Buffer>()
export const blocks: BlockStore = {
  put: async (name, data) => void objects.set(name, data),
  get: async (name) => objects.get(name) ?? null,
  remove: async (name) => void objects.delete(name),
}

/** Everything a redrive needs, on a connection that a test may break. */
export function storesOn(redis: Redis) {
  const subscriptions = new Subscriptions(redis)
  return {
    queues: new Queues(redis),
    subscriptions,
    lanes: new Lanes(redis),
    redrives: new Redrives(redis),
    batches: new RedriveBatches({ redis, subscriptions, lanes: new Lanes(redis) }),
    resends: new ResendBatches({
      redis,
      subscriptions,
      lanes: new Lanes(redis),
      failed: new FailedEnds(redis, new Lanes(redis)),
      archive: new ArchivePages(redis, blocks),
      matches: (record, message) => new FilterMatches(bodySealsOf(undefined)).ask(record, message),
      onResent: async () => undefined,
    }),
    storageGuard: new StorageGuard({ redis }),
    kept: new KeptMessages(redis),
    outcomes: new OutcomeLog(redis, { slice: async () => null, former: async () => [] }, new Lanes(redis), {
      queues: 2,
      entriesMax: 1_000,
    }),
  }
}

let endpoints = 0

export async function subscribe(
  { subscriptions }: Pick<Fixture, 'subscriptions'>,
  topic = TOPIC,
): Promise<string> {
  endpoints += 1
  const { subscription } = await subscriptions.create({
    topicArn: topic,
    protocol: 'https',
    endpoint: `https://example.com/${endpoints}`,
    rawMessageDelivery: false,
    deliveryPolicy: null,
    redrivePolicy: { deadLetterTargetArn: SOURCE },
    maxInFlight: 32,
    confirmation: 'none',
    attributes: {},
  })
  return subscription.id
}

/** Puts `count` dead letters of a subscription into the source; returns their messages' ids. */
export async function makeDeadLetters(
  { queues }: Pick<Fixture, 'queues'>,
  subscriptionId: string,
  count: number,
  set: Partial<DeadLetter> = {},
): Promise<string[]> {
  const letters = Array.from({ length: count }, () => aDeadLetter(subscriptionId, set))
  await queues.send(
    SOURCE,
    letters.map((deadLetter) => ({
      id: deadLetterItemId(subscriptionId, deliveryId(deadLetter.messageId, deadLetter.generation)),
      body: deadLetter.message.message,
      deadLetter,
    })),
  )
  return letters.map((letter) => letter.messageId)
}

function aDeadLetter(subscriptionId: string, set: Partial<DeadLetter>): DeadLetter {
  const { topicArn = TOPIC } = set
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const message: Message = { messageId, topicArn, publishedAt, message: `text of ${messageId}` }
  return {
    reason: 'retriesExhausted',
    statusCode: 500,
    lastError: null,
    attempts: 4,
    subscriptionArn: `${topicArn}:${subscriptionId}`,
    topicArn,
    messageId,
    generation: 0,
    publishedAt,
    deadLetteredAt: Date.now(),
    message,
    ...set,
  }
}

/** Takes everything that is due in all lanes, and delivers it or ends it in another way. */
export async function drainLanes(
  { lanes, delivered }: Pick<Fixture, 'lanes' | 'delivered'>,
  to: SettleTo = { op: 'delivered' },
): Promise<void> {
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
  // Side by side, because shards that have nothing are most of the time.
  const drained = await Promise.all(shards.map((shard) => drainShard(lanes, shard, to)))
  delivered.push(...drained.flat())
}

/** Endpoints answer, so their lanes get more than one claim at a time. */
async function drainShard(lanes: Lanes, shard: number, to: SettleTo): Promise<string[]> {
  const standing = 'proven' as const
  const delivered: string[] = []
  const request = {
    lanesMax: 100,
    deliveriesMax: 1_000,
    leaseMs: 60_000,
    limits: new Map<string, number>(),
  }
  for (;;) {
    const taken = await lanes.take(shard, request)
    const claims = taken.lanes.flatMap(({ subscriptionId, claims }) =>
      claims.map(({ delivery, lease }) => ({ subscriptionId, delivery, lease, to, standing })),
    )
    if (claims.length === 0) return delivered
    await lanes.settle(shard, claims)
    for (const { subscriptionId, delivery } of claims) {
      const { messageId, generation } = parseDeliveryId(delivery)
      delivered.push(`${subscriptionId} ${messageId} ${generation}`)
    }
  }
}

/** Receives and deletes all messages of a queue. Returns their bodies. */
export async function drainQueue({ queues }: Pick<Fixture, 'queues'>, arn: string): Promise<string[]> {
  const bodies: string[] = []
  for (;;) {
    const messages = await queues.receive(arn, { maxMessages: 10 })
    if (messages.length === 0) return bodies
    await queues.ack(
      arn,
      messages.map((message) => message.receiptHandle ?? ''),
    )
    bodies.push(...messages.map((message) => message.body))
  }
}

export async function setSkew(redis: Redis, ms: number): Promise<void> {
  await Promise.all(
    Array.from({ length: SHARD_COUNT }, (_, shard) => redis.set(skewKey(shardBase(shard)), ms)),
  )
}
