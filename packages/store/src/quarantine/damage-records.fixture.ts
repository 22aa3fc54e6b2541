/** More records for the damage fuzz: API keys, suppressed addresses, rings and FIFO logs. */
import { type ApiKeyRecord, createMessageId, type Message, topicArn } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { fifoMessage, makeFifoTopic } from '../fifo/fifo.fixture.ts'
import {
  ApiKeys,
  deliveryId,
  FifoLog,
  FifoReading,
  jobText,
  KeptMessages,
  Lanes,
  messageBody,
  readMessage,
  Suppressions,
  shardBase,
  shardOf,
  Topics,
} from '../index.ts'
import { API_KEYS_BASE, dispatchJobKey, MAIL_BASE } from '../keys/keys.ts'
import { ifReadable } from '../redis/unreadable.ts'

export interface Unit {
  name: string
  /** Parts of keys and members that belong to it. */
  traces: string[]
  /** Begins the keys that it shares with others. */
  base: string
  goesOn(): Promise<void>
}

const TEXTS = ['first', 'second', 'third']

async function makeKey(redis: Redis, id: string): Promise<Unit> {
  const keys = new ApiKeys(redis)
  const record: ApiKeyRecord = {
    id,
    kind: 'native',
    name: id,
    account: '000000000000',
    scopes: ['read'],
    prefixes: ['orders'],
    maxRequestsPerSecond: null,
    createdAt: 1,
  }
  await keys.create(record)
  const goesOn = async () => {
    expect((await keys.get(id))?.name).toBe(id)
    expect((await keys.list({ limit: 10 })).items.map((key) => key.id)).toContain(id)
  }
  return { name: id, traces: [id], base: API_KEYS_BASE, goesOn }
}

async function makeSuppression(redis: Redis, address: string): Promise<Unit> {
  const suppressions = new Suppressions(redis)
  await suppressions.add({ address, reason: 'bounce', detail: 'unknown', suppressedAt: 1 })
  const goesOn = async () => {
    expect(await suppressions.has(address)).toBe(true)
    expect((await suppressions.list({ limit: 10 })).items.map((item) => item.address)).toContain(address)
  }
  return { name: address, traces: [address], base: MAIL_BASE, goesOn }
}

/** `whole`: the ring has its messages in the job in which they were published. */
async function makeRing(redis: Redis, arn: string, whole: boolean): Promise<Unit> {
  const { topic } = await new Topics(redis).put(arn, { keepMessages: { seconds: 60, bytes: 100_000 } })
  const messages = TEXTS.map(
    (message, n): Message => ({ messageId: createMessageId(n), topicArn: arn, publishedAt: n, message }),
  )
  const kept = new KeptMessages(redis)
  const { uid } = topic
  const stored = messages.map((message) => {
    return { arn, uid, id: deliveryId(message.messageId), body: messageBody(message) }
  })
  if (!whole) await kept.keep(stored)
  else {
    const record = dispatchJobKey(0, arn)
    await redis.hset(record, { data: jobText(messages), timestamp: 1, ats: 1 })
    const job = { arn, uid, record, name: `dispatch-0:${arn}:a`, addedAt: 1, copies: true, messages: stored }
    expect(await kept.keepJobs([job])).toEqual([])
    await redis.del(record)
  }
  const goesOn = async () => {
    const bodies = (await kept.page(arn, { before: null, messagesMax: 9 }))?.bodies ?? []
    expect(textsOf(bodies)).toEqual(TEXTS.toReversed())
  }
  return { name: arn, traces: [arn, uid], base: shardBase(shardOf(arn)), goesOn }
}

async function makeLog(redis: Redis, arn: string): Promise<Unit> {
  const { uid } = await makeFifoTopic(redis, {}, arn)
  const messages = TEXTS.map((text) => fifoMessage(text, 'g', { topicArn: arn }))
  await new FifoLog(redis).publish(arn, messages)
  // A take for the lanes of the other topics would put the log off, so no shard has both.
  const shard = shardOf(arn)
  const goesOn = async () => {
    const request = { lanesMax: 9, deliveriesMax: 9, leaseMs: 20_000, limits: new Map(), logsMax: 9 }
    const claim = (await new Lanes(redis).take(shard, request)).logs.find((log) => log.topicArn === arn)
    if (!claim) throw new Error('no log is due')
    const read = await new FifoReading(redis).read(shard, claim)
    expect(read.kind === 'moved' && textsOf(read.entries.map(({ body }) => body))).toEqual(TEXTS)
  }
  const ids = messages.map(({ messageId }) => deliveryId(messageId).toString('latin1'))
  return { name: arn, traces: [arn, uid, ...ids], base: shardBase(shard), goesOn }
}

/** Texts of the bodies that can be read. */
function textsOf(bodies: (Buffer | null)[]): string[] {
  return bodies.flatMap((body) => (body ? ifReadable(() => readMessage(body).message) : []))
}

export async function makeRecords(redis: Redis): Promise<Unit[]> {
  const made: Unit[] = []
  for (const id of [`FK${'A'.repeat(18)}`, `FK${'B'.repeat(18)}`]) made.push(await makeKey(redis, id))
  for (const name of ['ann', 'bob']) made.push(await makeSuppression(redis, `${name}@example.com`))
  for (const name of ['kept-a', 'kept-b', 'whole-a', 'whole-b'])
    made.push(await makeRing(redis, topicArn(name), name.startsWith('whole')))
  for (const name of ['log-b.fifo', 'log-c.fifo']) made.push(await makeLog(redis, topicArn(name)))
  return made
}

export const RECORD_LOOKS: ((redis: Redis) => Promise<unknown>)[] = [
  (redis) => new Suppressions(redis).list({ limit: 10 }),
  // Rings give out messages as they were published.
  async (redis) => {
    for (const name of ['kept-a', 'kept-b', 'whole-a', 'whole-b']) {
      const read = new KeptMessages(redis).page(topicArn(name), { before: null, messagesMax: 9 })
      const bodies = (await read.catch(() => null))?.bodies ?? []
      expect(TEXTS).toEqual(expect.arrayContaining(textsOf(bodies)))
    }
  },
  // A damaged key must not give more rights than it had.
  async (redis) => {
    for (const { id, prefixes, scopes } of (await new ApiKeys(redis).list({ limit: 10 })).items)
      expect({ id, prefixes, scopes }).toEqual({ id, prefixes: ['orders'], scopes: ['read'] })
  },
]
