import type { Message, TopicRecord } from '@fantail/contracts'
import { createMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { deliveryId, type LogMove, type LogMoved, messageBody, SealKeyError } from '@fantail/store'
import { afterEach, expect, test, vi } from 'vitest'
import { lasting } from '../fixtures/lasting-copies.fixture.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { CompiledSlice, TopicSnapshot } from '../topics/compiled-slice.ts'
import { sliceMatch } from '../topics/slice-match.ts'
import { LogReaders, type LogReadersOptions } from './log-readers.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'
afterEach(() => void vi.useRealTimers())

const NOTHING_KEPT = { keep: async () => undefined }
const NOT_ISOLATED = { begin: async () => undefined, end: async () => undefined }

/** A slice whose filter throws at a certain text. */
function sliceThatChokes(on: string): CompiledSlice {
  const match = ({ message }: MessageContext) => {
    if (message.message === on) throw new TypeError('of no use')
    return []
  }
  const filters = { match, countReasons: () => undefined, filtered: () => Buffer.of(1) }
  const slice: Pick<CompiledSlice, 'sliceId' | 'shard' | 'bits' | 'unfiltered' | 'subscriptions' | 'topic'> =
    {
      sliceId: 'own.0',
      shard: 0,
      bits: 1,
      unfiltered: [],
      subscriptions: [],
      topic: { name: 'orders.fifo' } as TopicRecord,
    }
  return { ...slice, filters, byBit: [] } as unknown as CompiledSlice
}

const matchSlice: LogReadersOptions['snapshots']['matchSlice'] = (slice, context) =>
  sliceMatch(slice, context, slice.filters?.match(context))

test('a message that a filter chokes on is quarantined, and those behind it go on', async () => {
  const messages = ['first', 'bad', 'last'].map((text): Message => {
    return { messageId: createMessageId(Date.now()), topicArn: ARN, publishedAt: Date.now(), message: text }
  })
  const texts = new Map(messages.map((message) => [JSON.stringify(message), message]))
  const entries = [...texts].map(([text, { messageId }]) => ({
    id: deliveryId(messageId),
    body: Buffer.from(text),
  }))
  const quarantined: object[] = []
  const unmatched: string[] = []
  const moved: LogMove[] = []
  const slice = sliceThatChokes('bad')
  const snapshot = { ...snapshotOf('own'), slices: [{ sliceId: slice.sliceId, shard: 0 }] }
  const readers = new LogReaders({
    reading: {
      read: async () => ({ kind: 'moved', entries, nextDueAt: null }),
      move: async (_shard, _claim, move) => {
        moved.push(move)
        return { kind: 'moved', entries: [], nextDueAt: null }
      },
      letGo: async () => undefined,
      release: async () => undefined,
      postpone: async () => ({ kind: 'moved', entries: [], nextDueAt: null }),
    },
    snapshots: { topic: async () => snapshot, sliceOf: async () => slice, matchSlice },
    bodies: {
      read: (body) => new MessageContext(texts.get(String(body)) as Message),
      cache: () => undefined,
    },
    recorder: {
      filtered: () => undefined,
      moved: () => undefined,
      unmatched: ({ message }) => void unmatched.push(message.message),
      expiredWhole: () => undefined,
    },
    isolation: NOT_ISOLATED,
    keeping: NOTHING_KEPT,
    now: Date.now,
    locked: { report: () => undefined },
    servers: lasting,
    quarantine: async (entry) => {
      quarantined.push(entry)
      return 'added'
    },
    log: createLogger({ service: 'test', level: 'silent' }),
    onDue: () => undefined,
  })
  readers.read(0, { uid: 'own', topicArn: ARN, fence: 1 })
  await expect.poll(() => moved.length).toBe(1)
  await readers.stop()
  expect(moved[0]?.messages).toEqual(entries.map(({ id }) => ({ id, to: [] })))
  expect(quarantined).toMatchObject([
    {
      reason: 'messageUnmatchable',
      detail: 'it cannot be matched: of no use',
      raw: messageBody(messages[1] as Message),
    },
  ])
  expect(unmatched).toContain('bad')
})

/** Readers of a log with one message. Each read is counted. `topic`: answers which topic has the name now. */
function readersOfOne(topic: () => Promise<TopicSnapshot>, set: Partial<LogReadersOptions> = {}) {
  const messageId = createMessageId(Date.now())
  const message = { messageId, topicArn: ARN, publishedAt: Date.now(), message: 'hello' }
  const entry = { id: deliveryId(messageId), body: Buffer.from(messageBody(message)) }
  const done = { reads: 0, moved: [] as LogMove[] }
  const found = (entries: (typeof entry)[]): LogMoved => ({ kind: 'moved', entries, nextDueAt: null })
  const readers = new LogReaders({
    reading: {
      read: async () => {
        done.reads++
        return found([entry])
      },
      move: async (_shard, _claim, move) => {
        done.moved.push(move)
        return found(move.messages.length === 0 ? [entry] : [])
      },
      letGo: async () => undefined,
      release: async () => undefined,
      postpone: async () => ({ kind: 'moved', entries: [], nextDueAt: null }),
    },
    snapshots: { topic, sliceOf: async () => null, matchSlice },
    bodies: { read: () => new MessageContext(message), cache: () => undefined },
    recorder: {
      filtered: () => undefined,
      moved: () => undefined,
      unmatched: () => undefined,
      expiredWhole: () => undefined,
    },
    locked: { report: () => undefined },
    servers: lasting,
    quarantine: async () => 'added',
    isolation: NOT_ISOLATED,
    keeping: NOTHING_KEPT,
    now: Date.now,
    log: createLogger({ service: 'test', level: 'silent' }),
    onDue: () => undefined,
    ...set,
  })
  readers.read(0, { uid: 'own', topicArn: ARN, fence: 1 })
  return { readers, done }
}

test('while a step waits for a slow Redis, the lease of the log is renewed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<TopicSnapshot>()
  const { readers, done } = readersOfOne(() => {
    asked.resolve()
    return answer.promise
  })
  await asked.promise
  vi.advanceTimersByTime(3_500)
  expect(done.reads).toBe(1 + 3)
  answer.resolve(snapshotOf('own'))
  await expect.poll(() => done.moved.length).toBe(1)
  await readers.stop()
  vi.advanceTimersByTime(3_500)
  expect(done.reads).toBe(1 + 3)
})

test('nothing is matched by the snapshot of an earlier topic of the name', async () => {
  const uids = ['earlier', 'own']
  const { readers, done } = readersOfOne(async () => snapshotOf(uids.shift() ?? 'own'))
  await expect.poll(() => done.moved.length).toBe(2)
  expect(done.moved.map(({ messages }) => messages.length)).toEqual([0, 1])
  await readers.stop()
})

function snapshotOf(uid: string): TopicSnapshot {
  return {
    topic: { arn: ARN, uid } as TopicRecord,
    revision: uid,
    slices: [],
    subscriptions: 0,
    since: 0,
    hasFilters: false,
  }
}

test('a message whose key is missing leaves its log when its retention ends', async () => {
  const expired: string[] = []
  const snapshot = snapshotOf('own')
  const retained = { ...snapshot, topic: { ...snapshot.topic, retentionSeconds: 60 } }
  const recorder = {
    filtered: () => undefined,
    moved: () => undefined,
    unmatched: () => undefined,
    expiredWhole: (_: unknown, { message }: MessageContext) => void expired.push(message.messageId),
  }
  const bodies = { read: () => new SealKeyError('no key'), cache: () => undefined }
  const { readers, done } = readersOfOne(async () => retained, {
    bodies,
    recorder,
    now: () => Date.now() + 61_000,
  })
  await expect.poll(() => done.moved.length).toBe(1)
  await readers.stop()
  expect(done.moved[0]?.messages).toMatchObject([{ to: [], isExpired: true }])
  expect(expired).toHaveLength(1)
})
