/**
 * Damages one value of a small world, at random and by a seed: topics, subscriptions, lanes, queues of both kinds,
 * leases, push consumers, redrives, rings, FIFO logs, API keys, sessions, signing keys, devices, suppressed addresses,
 * numbers, recorded attempts and their indexes. Lists, sweeps and everything that the damaged key does not belong to go
 * on, no message arrives that nobody sent, and nothing that was changed is obeyed.
 */
import { createMessageId, queueArn, topicArn } from '@fantail/contracts'
import { RANDOM_TIMEOUT_MS, randomRuns } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  deliveryId,
  ifReadable,
  Lanes,
  messageBody,
  PushConsumerRecords,
  placeOfSubscription,
  Queues,
  Redrives,
  readMessage,
  readTotals,
  Subscriptions,
  shardBase,
  shardOf,
  Topics,
} from '../index.ts'
import {
  apiKeyNamesKey,
  apiKeysKey,
  optedOutKey,
  sandboxNumbersKey,
  suppressedAddressesKey,
  suppressionsKey,
  vaultKeysKey,
} from '../keys/keys.ts'
import { aDeadLetter } from '../queues/queues.fixture.ts'
import { newSubscription } from '../subscriptions/subscriptions.fixture.ts'
import { type Damage, damageOne } from './damage.fixture.ts'
import { makeRecords, RECORD_LOOKS, type Unit } from './damage-records.fixture.ts'
import { makeSecrets, SECRET_LOOKS } from './damage-secrets.fixture.ts'

const { redis } = await useRedis()
const problems: unknown[] = []
const note = (error: unknown) => void problems.push(error)
const queues = new Queues(redis, { onProblem: note, onUnreadable: note })
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis, { onUnreadable: note })
const redrives = new Redrives(redis)
const consumers = new PushConsumerRecords(redis, { onUnreadable: note })
const lanes = new Lanes(redis)

const QUEUES = [queueArn('orders'), queueArn('bills'), queueArn('letters'), queueArn('steps.fifo')]
const TOPICS = [topicArn('one'), topicArn('two'), topicArn('three')]
const PUSH_CONSUMER_URL = 'https://example.com/push'
const BODIES = ['first', 'second', 'third']
/** Another seed damages other values. */
const SEED = 1

async function makeQueue(arn: string, i: number): Promise<Unit> {
  const fifo = arn.endsWith('.fifo')
  const { queue } = await queues.put(arn, {
    ...(i === 0 && { leaseSeconds: 600 }),
    ...(fifo && { contentBasedDeduplication: true }),
  })
  const deadLetter = arn.endsWith('letters') ? aDeadLetter() : undefined
  await queues.send(
    arn,
    BODIES.map((body) => ({ body, ...(fifo && { groupId: 'g' }), ...(deadLetter && { deadLetter }) })),
  )
  await consumers.put(arn, 'push', { url: PUSH_CONSUMER_URL })
  const goesOn = async () => {
    const received = await queues.receive(arn, { maxMessages: 10 })
    expect(received.map(({ body }) => body)).toEqual(BODIES)
  }
  return { name: arn, traces: [arn, `q:${queue.uid}:`], base: shardBase(shardOf(arn)), goesOn }
}

const webhookKeys = [
  {
    id: 'a'.repeat(16),
    algorithm: 'hmac-sha256' as const,
    sealed: 'v1.abcd1234.x',
    createdAt: 1,
    expiresAt: null,
  },
]

async function makeTopic(arn: string): Promise<Unit> {
  const { topic } = await topics.put(arn, {})
  const { id } = (await subscriptions.create(newSubscription(arn, 's', { webhookKeys }))).subscription
  const { shard = 0 } = placeOfSubscription(id) ?? {}
  await redis.hset(`${shardBase(shard)}lane:${id}`, 'a', '1')
  const messageId = createMessageId(Date.now())
  const body = messageBody({ messageId, topicArn: arn, publishedAt: 1, message: arn })
  const message = { id: deliveryId(messageId), body }
  const entries = [{ subscriptionId: id, delivery: message.id, message: 0, park: { as: 'fresh' as const } }]
  await lanes.park(shard, { messages: [message], jobs: [{ jobName: '', fence: 0, fields: [], entries }] })
  const goesOn = async () => {
    expect((await topics.getWithCounts(arn))?.subscriptions.active).toBe(1)
    const request = { lanesMax: 9, deliveriesMax: 9, leaseMs: 20_000, limits: new Map() }
    const taken = await lanes.take(shard, request)
    expect(taken.lanes.map(({ subscriptionId }) => subscriptionId)).toContain(id)
    await subscriptions.update(id, () => ({ status: 'paused' }))
    await subscriptions.update(id, () => ({ status: 'active' }))
  }
  return {
    name: arn,
    traces: [arn, topic.uid, id, message.id.toString(), messageId],
    base: shardBase(shard),
    goesOn,
  }
}

async function makeWorld(): Promise<Unit[]> {
  await redis.flushall()
  problems.length = 0
  const units: Unit[] = []
  for (const [i, arn] of QUEUES.entries()) units.push(await makeQueue(arn, i))
  for (const arn of TOPICS) units.push(await makeTopic(arn))
  units.push(...(await makeRecords(redis)), ...(await makeSecrets(redis)))
  await redrives.createPurge(queueArn('letters'), { subscription: `${TOPICS[0]}:none` })
  const rest = { destination: null, maxMessagesPerSecond: null, filter: { reason: 'permanent' as const } }
  await redrives.create({ source: queueArn('bills'), ...rest })
  return units
}

const LOOKS: Record<string, () => Promise<unknown>> = {
  topics: () => topics.list({ limit: 100 }),
  queues: () => queues.list({ limit: 100 }),
  totals: () => readTotals(redis),
  redrives: () => redrives.list({ limit: 100 }),
  runnable: () => redrives.runnable(note),
  consumers: async () => {
    for (const { consumers: of } of await consumers.all())
      for (const { url } of of) expect(url).toBe(PUSH_CONSUMER_URL)
  },
  subscriptions: () => subscriptions.list({ limit: 100 }),
  'sweep of queues': () => queues.sweep(),
  'sweep of redrives': () => redrives.sweep(note),
  'sweep of subscriptions': () => subscriptions.expirePending(),
}

/** The records by which messages find their way. */
async function readRecords(): Promise<Map<string, object>> {
  const pages = [
    await topics.list({ limit: 100 }),
    await queues.list({ limit: 100 }),
    await subscriptions.list({ limit: 100 }),
  ]
  return new Map(
    pages.flatMap(({ items }) => items as { arn: string }[]).map((record) => [record.arn, record]),
  )
}

/** The lines of due lanes of a shard: no lane of that shard can be served without them. */
const OF_A_SHARD = /:(due|unproven|paused|leases|counts|ahead)$/

const damage: fc.Arbitrary<Damage> = fc.record({
  key: fc.nat(),
  member: fc.nat(),
  at: fc.nat(),
  how: fc.constantFrom('bit', 'lost', 'cut', 'type'),
})

async function play(one: Damage): Promise<void> {
  const units = await makeWorld()
  const records = await readRecords()
  const keys = (await redis.keys('ft:{*')).filter((key) => !key.endsWith(':seq')).sort()
  const [key, what] = await damageOne(redis, keys, one)
  for (const [look, run] of Object.entries(LOOKS)) {
    await run().catch((error: unknown) => {
      throw new Error(`${look} after ${what}`, { cause: error })
    })
  }
  for (const [arn, record] of await readRecords()) expect(record, what).toEqual(records.get(arn))
  for (const look of [...RECORD_LOOKS, ...SECRET_LOOKS]) await look(redis)
  const own = units.filter(({ traces }) => traces.some((trace) => what.includes(trace)))
  const shardWide = own.length === 0
  for (const unit of units) {
    if (own.includes(unit) || (shardWide && key.startsWith(unit.base))) continue
    if (OF_A_SHARD.test(key) && key.startsWith(unit.base)) continue
    await unit.goesOn().catch((error: unknown) => {
      throw new Error(`${unit.name} after ${what}`, { cause: error })
    })
  }
  for (const arn of QUEUES) {
    const received = await queues.receive(arn, { maxMessages: 10 }).catch(() => [])
    expect(BODIES, what).toEqual(expect.arrayContaining(received.map(({ body }) => body)))
  }
  for (const { name, traces } of units.slice(QUEUES.length, QUEUES.length + TOPICS.length)) {
    const { shard = 0 } = placeOfSubscription(traces[2] ?? '') ?? {}
    const [body] = await lanes.bodies(shard, [deliveryId(traces.at(-1) ?? '')])
    const [read] = body ? ifReadable(() => readMessage(body)) : []
    expect([undefined, name], what).toContain(read?.message)
  }
}

test('all else goes on, whatever value is damaged', { timeout: RANDOM_TIMEOUT_MS }, async () => {
  await fc.assert(fc.asyncProperty(damage, play), {
    numRuns: randomRuns(25, 0.005),
    seed: SEED,
    endOnFailure: true,
  })
})

test('lists of records answer while their one key has another type', async () => {
  const mails = [suppressionsKey(), suppressedAddressesKey()]
  const numbers = [optedOutKey(), sandboxNumbersKey()]
  for (const key of [apiKeysKey(), apiKeyNamesKey(), ...mails, ...numbers, vaultKeysKey()]) {
    await makeWorld()
    await redis.set(key, 'x')
    for (const look of [...RECORD_LOOKS, ...SECRET_LOOKS]) await look(redis)
  }
})
