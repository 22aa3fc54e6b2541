/**
 * Workers die while they match a FIFO message. The test uses the real readers and snapshots, and cuts the connection to
 * Redis.
 */
import type { Message } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import {
  FifoLog,
  FifoReading,
  IsolatedMessages,
  type Redis,
  Snapshots,
  shardBase,
  shardOf,
} from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { skewKey, waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { createWorkerMetrics } from '../attempts/worker-metrics.ts'
import { LaneBodies } from '../bodies/lane-bodies.ts'
import { lasting } from '../fixtures/lasting-copies.fixture.ts'
import { fakeStats } from '../fixtures/stats.fixture.ts'
import { createMessage, useFixture } from '../fixtures/worker.fixture.ts'
import { IsolationNotes } from '../reports/isolation-notes.ts'
import { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import { SnapshotCache } from '../topics/snapshot-cache.ts'
import { LogReaders } from './log-readers.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'
const SHARD = shardOf(TOPIC)
const BASE = shardBase(SHARD)
const RETENTION_SECONDS = 345_600
/** Longer than a reader's lease, and longer than any delay. */
const DUE_MS = 305_000
const log = createLogger({ service: 'test', level: 'silent' })

const fixture = await useFixture()
let skewMs = 0

beforeEach(async () => {
  skewMs = 0
  await fixture.topics.put(TOPIC, {})
  await fixture.subscribe('hook', { topicArn: TOPIC })
})

async function publish(...texts: string[]): Promise<Message[]> {
  const messages = texts.map((text) => {
    const message = createMessage(text, TOPIC)
    return { ...message, groupId: text.slice(0, 1), deduplicationId: message.messageId }
  })
  await new FifoLog(fixture.redis).publish(TOPIC, messages)
  return messages
}

async function jump(ms: number) {
  skewMs += ms
  await fixture.redis.set(skewKey(BASE), skewMs)
}

/** Once the process is dead, every script fails. */
function connectionOf(process: { dead: boolean }): Redis {
  return new Proxy(fixture.redis, {
    get(target, name) {
      if (process.dead && String(name).startsWith('move-log-1')) {
        return async () => {
          throw new Error('crashed')
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Lends the due logs to one worker, and waits until it has read everything or has died at the text. */
async function work(killer?: string): Promise<void> {
  const { redis, lanes, outcomes } = fixture
  const process = { dead: false }
  const cache = new SnapshotCache(new Snapshots(redis), () => undefined)
  const now = () => Date.now() + skewMs
  const recorder = new OutcomeRecorder(
    outcomes,
    createWorkerMetrics(createMetrics(), now, fakeStats().counter),
    log,
  )
  const readers = new LogReaders({
    reading: new FifoReading(connectionOf(process)),
    snapshots: {
      topic: (arn) => cache.topic(arn),
      sliceOf: (snapshot, ref) => cache.sliceOf(snapshot, ref),
      matchSlice: (slice, context, ...rest) => {
        process.dead ||= context.message.message === killer
        if (!process.dead) return cache.matchSlice(slice, context, ...rest)
        void readers.stop()
        return Promise.resolve(undefined)
      },
    },
    bodies: new LaneBodies(lanes),
    recorder,
    locked: { report: () => undefined },
    servers: lasting,
    quarantine: async () => {
      throw new Error('nothing here is to be quarantined')
    },
    isolation: new IsolationNotes({ isolated: new IsolatedMessages(redis), log, now }),
    keeping: { keep: async () => undefined },
    log,
    now,
    onDue: () => undefined,
  })
  const request = { lanesMax: 100, deliveriesMax: 1, othersMax: 0, leaseMs: 1_000, limits: new Map() }
  const { capacity } = readers
  for (const claim of (await lanes.take(SHARD, { ...request, logsMax: 10 })).logs) readers.read(SHARD, claim)
  await waitFor(() => process.dead || readers.capacity === capacity)
  await readers.stop()
  await recorder.stop()
}

async function isolate(killer: string): Promise<void> {
  for (let deaths = 0; deaths < 4; deaths++) {
    await work(killer)
    await jump(DUE_MS)
  }
}

/** Texts of the deliveries that wait in the topic's lanes, group by group. */
async function inLanes(): Promise<string[]> {
  const heads = await fixture.redis.keys(`${BASE}fresh:*`)
  const behind = (await fixture.redis.keys(`${BASE}behind:*`)).sort()
  const ids = [
    ...(await Promise.all(heads.map((key) => fixture.redis.zrangeBuffer(key, '0', '-1')))),
    ...(await Promise.all(behind.map((key) => fixture.redis.lrangeBuffer(key, 0, -1)))),
  ].flat()
  const bodies = await fixture.lanes.bodies(SHARD, ids)
  return bodies.map((body) => JSON.parse(String(body)).message)
}

const isolatedRow = async (messageId: string) => new IsolatedMessages(fixture.redis).of(messageId)

test('a message that kills workers in matching holds its own group only, and is explained', async () => {
  const [killer] = await publish('a0', 'b0', 'a1', 'b1', 'c0')
  await isolate('a0')
  expect((await inLanes()).toSorted()).toEqual(['b0', 'b1', 'c0'])
  expect(await isolatedRow(killer?.messageId ?? '')).toMatchObject({ topicArn: TOPIC })
  await work()
  const texts = await inLanes()
  expect(texts.filter((text) => text.startsWith('a'))).toEqual(['a0', 'a1'])
  expect(await isolatedRow(killer?.messageId ?? '')).toBeNull()
})

test('retention ends a message that kills workers, counted once; its group goes on', async () => {
  const [killer] = await publish('a0', 'b0', 'a1')
  await isolate('a0')
  await jump(RETENTION_SECONDS * 1_000)
  await work('a0')
  expect((await inLanes()).toSorted()).toEqual(['a1', 'b0'])
  expect(await fixture.counts.read()).toEqual({ expired: 1 })
  const { messageId } = killer ?? { messageId: '' }
  await waitFor(async () => (await fixture.outcomes.message(messageId)) !== null)
  expect(await fixture.outcomes.deliveries(messageId)).toEqual([])
})
