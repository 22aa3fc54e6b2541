import { createMessageId, type Message } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import type { RunEnd } from '@fantail/jobs'
import { createLogger } from '@fantail/runtime'
import { connect, Lanes, messageBody, shardOf } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lastingCopies } from '../fixtures/lasting-copies.fixture.ts'
import type { Unit } from '../runs/unit.ts'
import { Parking } from '../settling/parking.ts'
import type { CompiledSlice } from '../topics/compiled-slice.ts'
import { sliceMatch } from '../topics/slice-match.ts'
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts'
import { isolationMs } from './isolating-runs.ts'
import { QUEUED_MAX } from './unit-admission.ts'

const log = createLogger({ service: 'test', level: 'silent' })
let ageMs = 0
let isFull = () => false
const { redis } = await useRedis({ connect })
beforeEach(async () => {
  ageMs = 0
  isFull = () => false
  await redis.flushall()
})
/** Each ends the run of a worker that was killed. */
const killed: (() => Promise<void>)[] = []
// A run that goes on looks every 25 ms whether it needs a checkpoint, also during all later files of this process.
afterEach(() => Promise.all(killed.splice(0).map((end) => end())))

const topic = (name: string) => `arn:aws:sns:us-east-1:000000000000:${name}`
const publishedAt = Date.now()
const RETENTION_SECONDS = 600
const message = (text: string, topicArn: string): Message => ({
  messageId: createMessageId(publishedAt),
  topicArn,
  publishedAt,
  message: text,
})

/** Each topic has one slice, in a shard of its own. `start` decides what happens to a unit. */
function createDispatcher(
  start: ((unit: Unit) => void) | DispatcherOptions['firstAttempts'],
  set: Partial<DispatcherOptions['snapshots']> = {},
  idempotency: DispatcherOptions['idempotency'] = { claimForDispatch: async () => true },
) {
  const counted: string[] = []
  const shards = [topic('a'), topic('b')]
  const slice = (arn: string) => ({
    sliceId: `${arn}.0`,
    shard: shards.indexOf(arn),
    bits: 1,
    topic: { arn },
    subscriptions: [],
    filters: null,
    byId: new Map(),
  })
  const snapshots = {
    topic: (arn: string) => ({
      topic: { arn, retentionSeconds: RETENTION_SECONDS },
      slices: [slice(arn)],
      hasFilters: false,
    }),
    match: () => undefined,
    matchSlice: (slice: CompiledSlice, context: Unit['context']) => sliceMatch(slice, context, undefined),
    checkFilters: () => undefined,
    loadFilters: () => undefined,
    sliceOf: (_snapshot: unknown, ref: unknown) => ref,
    checkedAt: () => performance.now(),
    ...set,
  } as unknown as DispatcherOptions['snapshots']
  const lanes = new Lanes(redis)
  const dispatcher = new Dispatcher({
    seals: bodySealsOf(undefined),
    snapshots,
    lanes,
    firstAttempts: typeof start === 'function' ? { start, queued: 0 } : start,
    parking: new Parking(lanes, log, () => undefined),
    recorder: {
      dispatched: () => undefined,
      filtered: () => undefined,
      rejectedSlices: () => undefined,
      unmatched: () => undefined,
      expiredWhole: () => undefined,
    },
    locked: { report: () => undefined },
    idempotency,
    log,
    count: async (cause) => void counted.push(cause),
    quarantine: async ({ id, reason }) => {
      counted.push(`${reason} ${id}`)
      return isFull() ? 'full' : 'added'
    },
    keeping: { keep: async () => undefined },
    isolation: {
      begin: async (_, failedStarts) => void counted.push(`isolated ${failedStarts}`),
      end: async () => undefined,
    },
    now: () => publishedAt + ageMs,
  })
  return { dispatcher, counted }
}

/** A message that cannot be read stays as it is. */
const bodyOf = (given: Message): string =>
  typeof given?.message === 'string' ? messageBody(given) : JSON.stringify(given)

const job = (fence: number, messages: Message[]) => ({
  jobName: 'dispatch-0:1',
  fence,
  messages: messages.map(bodyOf),
  isLost: () => false,
  copies: lastingCopies(),
  hasCapacityFor: async () => true,
  handOut: async () => true,
  handOutAgain: async () => false,
})

/**
 * A worker that the message `killer` kills, so its run does not end within the test. Also returns the attempts that it
 * began and the deliveries that it counted before.
 */
async function run(fence: number, messages: Message[]) {
  const started: string[] = []
  const { dispatcher, counted } = createDispatcher((unit) => {
    started.push(unit.context.message.message)
    if (started.at(-1) === 'killer') kill(unit)
  })
  const kill = (unit: Unit) => {
    unit.open++
    killed.push(async () => {
      unit.run.lost = true
      unit.close()
      await running
    })
  }
  let end: RunEnd | undefined
  const running = dispatcher.run(job(fence, messages)).then((ended) => {
    end = ended
  })
  await waitFor(() => end !== undefined || started.at(-1) === 'killer')
  return { started, counted, end }
}

/** The second start of the job begins, and does not end. */
const beginSecond = () => new Lanes(redis).openCheckpoint(shardOf('dispatch-0:1'), 'dispatch-0:1', 2)

test('a run isolates after a start that began, and not after starts that never began', async () => {
  const isIsolating = async (fence: number) => {
    let isolating: boolean | undefined
    const { dispatcher } = createDispatcher((unit) => {
      isolating = unit.run.isIsolating
    })
    await dispatcher.run(job(fence, [message('first', topic('a'))]))
    return isolating
  }
  expect([await isIsolating(20), await isIsolating(30)]).toEqual([false, true])
})

test('a message at which workers die comes after its neighbours, each time after a longer delay', async () => {
  const messages = [message('first', topic('a')), message('killer', topic('b')), message('last', topic('a'))]
  await beginSecond()
  for (const fence of [3, 4])
    expect(await run(fence, messages)).toEqual({ started: ['first', 'killer'], counted: [] })
  const healthy = { started: ['first', 'last'] }
  const killed = { started: ['first', 'last', 'killer'], counted: [] }
  expect(await run(5, messages)).toEqual({ ...healthy, counted: ['isolated 2'], end: { postponedMs: 1_000 } })
  expect(await run(6, messages)).toEqual(killed)
  expect(await run(7, messages)).toEqual({ ...healthy, counted: ['isolated 3'], end: { postponedMs: 2_000 } })
  expect(await run(8, messages)).toEqual(killed)
})

test('a message at which every worker dies does not hold up another isolated message of its job', async () => {
  const [first, second] = [message('killer', topic('a')), message('killer', topic('b'))]
  await beginSecond()
  for (const fence of [3, 4]) await run(fence, [{ ...first, message: 'healthy' }, second])
  const messages = [first, { ...second, message: 'isolated' }]
  for (const fence of [5, 6, 7, 8, 9]) await run(fence, messages)
  const { started, end } = await run(10, messages)
  expect(started).toEqual(['isolated'])
  expect(end).toEqual({ postponedMs: 2_000 })
})

test('slices of a message that must be read are read beside each other', async () => {
  const read = Promise.withResolvers<null>()
  const asked = new Set<unknown>()
  const sliceOf = (_: unknown, ref: unknown) => {
    asked.add(ref)
    return read.promise
  }
  const slices = Array.from({ length: 20 }, (_, n) => ({ sliceId: `uid.${n}`, shard: 0 }))
  const snapshot = { topic: { arn: topic('a'), retentionSeconds: RETENTION_SECONDS }, slices }
  const { dispatcher } = createDispatcher(() => undefined, {
    topic: () => snapshot as never,
    sliceOf: sliceOf as never,
  })
  const ended = dispatcher.run(job(1, [message('first', topic('a'))]))
  await waitFor(() => asked.size === 16)
  read.resolve(null)
  expect(await ended).toBe('settled')
  expect(asked.size).toBe(20)
})

test('the delay of an isolated message grows to five minutes and no further', () => {
  expect([2, 3, 4, 10, 11, 1_000].map(isolationMs)).toEqual([1_000, 2_000, 4_000, 256_000, 300_000, 300_000])
})

test('starts that end between messages isolate none', async () => {
  const messages = [message('first', topic('a')), message('last', topic('a'))]
  await beginSecond()
  for (const fence of [3, 4, 5, 6, 7, 8])
    expect(await run(fence, messages)).toEqual({ started: ['first', 'last'], counted: [], end: 'settled' })
})

test('an isolated message that never reached its lanes ends when its topic keeps it no longer, and counts as expired', async () => {
  const messages = [message('killer', topic('b'))]
  await beginSecond()
  for (const fence of [3, 4, 5]) await run(fence, messages)
  ageMs = RETENTION_SECONDS * 1_000 + 1
  expect(await run(6, messages)).toEqual({ started: [], counted: ['expired'], end: 'settled' })
})

test('a message that cannot be read is quarantined and keeps its neighbours from nothing', async () => {
  const unreadable = [
    null,
    { ...message('no id', topic('a')), messageId: 'none' },
    { messageId: createMessageId(1) },
  ]
  const messages = [...(unreadable as Message[]), message('good', topic('a'))]
  const counted = [0, 1, 2].map((index) => `messageUnreadable job.dispatch-0.1.${index}`)
  expect(await run(1, messages)).toEqual({ started: ['good'], counted, end: 'settled' })
  isFull = () => true
  expect(await run(2, messages)).toEqual({ started: ['good'], counted, end: { postponedMs: 60_000 } })
})

/**
 * Returns what a worker does with a message for the topic `uid`. `uids`: the topics that its looks find, one after the
 * other.
 */
async function found(topicUid: string, uids: (string | null)[]) {
  const arn = topic('a')
  const looks = [...uids]
  const matchedBy: string[] = []
  const snapshotOf = (uid: string | null | undefined) =>
    uid ? { topic: { arn, uid }, slices: [{ sliceId: `${uid}.0`, shard: 0 }], hasFilters: false } : null
  const snapshots = {
    topic: async () => snapshotOf(looks[0]),
    invalidate: () => void (looks.length > 1 && looks.shift()),
    sliceOf: (snapshot: { topic: object }, ref: object) => ({
      ...ref,
      ...snapshot,
      bits: 1,
      filters: null,
      subscriptions: [],
    }),
  } as unknown as Partial<DispatcherOptions['snapshots']>
  const { dispatcher, counted } = createDispatcher(
    ({ slice }) => void matchedBy.push(slice.topic.uid),
    snapshots,
  )
  await dispatcher.run(job(1, [{ ...message('hello', arn), topicUid }]))
  return { matchedBy, counted }
}

test.each([
  ['by the topic that it was published to', 'one', ['one'], 'one'],
  [
    'by the topic that has been made again, not by the snapshot of the earlier one',
    'two',
    ['one', 'two'],
    'two',
  ],
  ['by it also where somebody has begun to look before', 'two', ['one', 'one', 'two'], 'two'],
  ['by it also where there was none for a moment', 'two', [null, 'two'], 'two'],
  ['by what there is where the publisher knew the earlier one', 'one', ['two', 'two', 'two'], 'two'],
])('a message is matched %s', async (_, published, snapshots, uid) => {
  expect(await found(published, snapshots)).toEqual({ matchedBy: [uid], counted: [] })
})

test('a run whose job Redis has lost claims no idempotency key and delivers nothing', async () => {
  const started: Unit[] = []
  const lost = { claimForDispatch: async () => 'jobGone' as const }
  const { dispatcher, counted } = createDispatcher((unit) => started.push(unit), {}, lost)
  const keyed = { ...message('first', topic('a')), idempotency: { key: 'ft:{x}:idem:u:k', value: 'v' } }
  expect(await dispatcher.run(job(1, [keyed]))).toBe('lost')
  expect([started, counted]).toEqual([[], []])
})

test('a run that is refused as stale says that it is lost', async () => {
  const { dispatcher } = createDispatcher(({ run }) => {
    run.lost = true
  })
  expect(await dispatcher.run(job(1, [message('first', topic('a'))]))).toBe('lost')
  expect(await createDispatcher(() => undefined).dispatcher.run(job(1, []))).toBe('settled')
})

test('a message that cannot be matched lets its neighbours end, and the next start knows of them', async () => {
  const units: Unit[] = []
  const match = (_: unknown, { message: { message } }: Unit['context']) => {
    if (message === 'bad') throw new RangeError('too deep')
  }
  const { dispatcher } = createDispatcher(
    (unit) => {
      unit.open++
      units.push(unit)
    },
    { match: match as never },
  )
  let ended = false
  const run = dispatcher.run(job(1, [message('good', topic('a')), message('bad', topic('b'))]))
  const rejected = expect(run).rejects.toThrow('too deep')
  void run.catch(() => {
    ended = true
  })
  const unit = await waitFor(() => units[0])
  // After this round trip, the end of the run would have been visible.
  await redis.ping()
  expect(ended).toBe(false)
  unit.settle(0)
  unit.close()
  await rejected
  const { fields } = await new Lanes(redis).openCheckpoint(0, 'dispatch-0:1', 2)
  expect([...fields.keys()].filter((name) => name !== 'f')).toEqual([`0.${topic('a')}.0`])
})

test('a message that cannot be matched is tried alone, later and later, until its topic keeps it no longer', async () => {
  const attempted: string[] = []
  const match = (_: unknown, { message: { message } }: Unit['context']) => {
    attempted.push(message)
    if (message === 'bad') throw new RangeError('too deep')
  }
  const messages = [message('bad', topic('b')), message('good', topic('a'))]
  const runBad = async (fence: number) => {
    attempted.length = 0
    const { dispatcher, counted } = createDispatcher(() => undefined, { match: match as never })
    const end = await dispatcher.run(job(fence, messages))
    return { end, counted, attempted: [...attempted] }
  }
  for (const fence of [1, 2]) await expect(runBad(fence)).rejects.toThrow('too deep')
  const first = { end: { postponedMs: 1_000 }, counted: ['isolated 2'], attempted: ['bad', 'good'] }
  expect(await runBad(3)).toEqual(first)
  for (const [fence, failures] of [
    [4, 3],
    [5, 4],
    [6, 5],
  ] as const) {
    const next = { end: { postponedMs: isolationMs(failures) }, counted: [`isolated ${failures}`] }
    expect(await runBad(fence)).toEqual({ ...next, attempted: ['good', 'bad'] })
  }
  ageMs = RETENTION_SECONDS * 1_000 + 1
  expect(await runBad(7)).toEqual({ end: 'settled', counted: ['expired'], attempted: ['good'] })
})

test('a unit that cannot be started keeps its run from ending no longer than its neighbours', async () => {
  const { dispatcher } = createDispatcher((unit) => {
    unit.open++
    if (unit.context.message.message === 'bad') throw new RangeError('too deep')
    unit.close()
  })
  const messages = [message('bad', topic('a')), message('good', topic('b'))]
  await expect(dispatcher.run(job(1, messages))).rejects.toThrow('too deep')
})

test('a unit that waited for room and cannot be started fails its own run, not whoever makes room', async () => {
  const firstAttempts = {
    start: () => {
      throw new RangeError('too deep')
    },
    queued: QUEUED_MAX,
  }
  const { dispatcher } = createDispatcher(firstAttempts)
  const run = expect(dispatcher.run(job(1, [message('bad', topic('a'))]))).rejects.toThrow('too deep')
  await waitFor(() => !dispatcher.hasCapacity)
  firstAttempts.queued = 0
  dispatcher.capacityFreed()
  await run
})

test('a message that is matched keeps nothing of what filters saw of it', async () => {
  const seen: { context: Unit['context']; subject: unknown }[] = []
  const matchSlice = (slice: CompiledSlice, context: Unit['context']) => {
    seen.push({ context, subject: context.subject('http') })
    return sliceMatch(slice, context, undefined)
  }
  const { dispatcher } = createDispatcher(() => undefined, { matchSlice } as Partial<
    DispatcherOptions['snapshots']
  >)
  expect(await dispatcher.run(job(1, [message('{}', topic('a'))]))).toBe('settled')
  const [one] = seen
  expect(one?.context.subject('http')).not.toBe(one?.subject)
})

test('a message whose topic is gone is discarded and counted', async () => {
  expect(await found('one', [null])).toEqual({
    matchedBy: [],
    counted: ['discarded:topicDeleted'],
  })
})

/**
 * A worker that knows no filters yet. One message alone therefore seems to reach more subscriptions than one worker
 * should handle.
 */
async function startWide(
  fence: number,
  set: Partial<DispatcherOptions['snapshots']> = {},
  { hasCapacity = true, before = [] as Message[] } = {},
) {
  const arn = topic('a')
  const slices = [0, 1].map((n) => ({
    sliceId: `wide.${n}`,
    shard: n,
    topic: { arn },
    bits: 1,
    filters: null,
    subscriptions: [],
  }))
  const snapshot = { topic: { arn }, slices, subscriptions: 12_000, hasFilters: false }
  const started: string[] = []
  const handedOut: unknown[] = []
  const { dispatcher } = createDispatcher(({ slice }) => void started.push(slice.sliceId), {
    topic: () => snapshot as never,
    ...set,
  })
  const handOut = async (parts: unknown[]) => handedOut.push(...parts) > 0
  const messages = [...before, message('to many', arn)]
  await dispatcher.run({ ...job(fence, messages), hasCapacityFor: async () => hasCapacity, handOut })
  return { started, parts: handedOut.length }
}

test('a job at which starts have failed is not cut by a later one', async () => {
  const shard = shardOf('dispatch-0:1')
  const fields: [string, Buffer][] = [['failed.0', Buffer.from('1')]]
  await new Lanes(redis).park(shard, {
    messages: [],
    jobs: [{ jobName: 'dispatch-0:1', fence: 3, fields, entries: [] }],
  })
  expect(await startWide(4)).toEqual({ started: ['wide.0', 'wide.1'], parts: 0 })
})

test('a job of which an earlier start has settled something is not cut by a later one', async () => {
  const fields: [string, Buffer][] = [['0.wide.1', Buffer.from([1])]]
  const jobs = [{ jobName: 'dispatch-0:1', fence: 1, fields, entries: [] }]
  await new Lanes(redis).park(1, { messages: [], jobs })
  expect(await startWide(2)).toEqual({ started: ['wide.0', 'wide.1'], parts: 0 })
})

test('a job that was not begun is cut by a later start', async () => {
  expect(await startWide(2)).toEqual({ started: [], parts: 2 })
})

test('subscriptions without a filter count beside those whose filters match', async () => {
  const toOpen = [0, 1].map((n) => ({
    ref: { sliceId: `wide.${n}`, shard: n },
    found: { bits: [], filters: { unfiltered: 6_000 } },
  }))
  const match = () => ({ toOpen, rejectedSlices: undefined }) as never
  expect(await startWide(1, { match })).toEqual({ started: [], parts: 2 })
})

test('a job for whose parts Redis has no room is left whole', async () => {
  expect(await startWide(1)).toEqual({ started: [], parts: 2 })
  expect(await startWide(1, {}, { hasCapacity: false })).toEqual({ started: ['wide.0', 'wide.1'], parts: 0 })
})

test('a job with a message that cannot be read is left whole, as parts name messages by their places in it', async () => {
  const before = [null as unknown as Message]
  expect(await startWide(1, {}, { before })).toEqual({ started: ['wide.0', 'wide.1'], parts: 0 })
})

test('a message at which workers die while it is matched is handed on unmatched', async () => {
  const died = () => {
    throw new RangeError('too deep')
  }
  const snapshot = { topic: { arn: topic('a') }, subscriptions: 12_000, hasFilters: true }
  const slices = [0, 1].map((n) => ({ sliceId: `wide.${n}`, shard: n }))
  const set = { match: died, topic: () => ({ ...snapshot, slices }) as never }
  await expect(startWide(2, set)).rejects.toThrow('too deep')
  expect(await startWide(3, set)).toEqual({ started: [], parts: 2 })
})

test('a sealed message whose key is missing gets a part of its own, so that the others are started once', async () => {
  const parts: unknown[] = []
  const { dispatcher } = createDispatcher(() => undefined)
  const messages = [message('first', topic('a')), locked(topic('b')), message('last', topic('a'))]
  const handOut = async (given: readonly { messages: unknown }[]) => {
    parts.push(...given.map(({ messages: range }) => range))
    return true
  }
  expect(await dispatcher.run({ ...job(1, messages), handOut })).toBe('cut')
  expect(parts).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ])
})

test('a sealed message whose key is missing waits until its retention or its topic ends', async () => {
  const { dispatcher, counted } = createDispatcher(() => undefined)
  expect(await dispatcher.run(job(1, [locked(topic('a'))]))).toEqual({ postponedMs: 60_000 })
  expect(counted).toEqual([])
  ageMs = RETENTION_SECONDS * 1_000 + 1
  expect(await dispatcher.run(job(1, [locked(topic('a'))]))).toBe('settled')
  const without = createDispatcher(() => undefined, { topic: (async () => null) as never })
  expect(await without.dispatcher.run(job(1, [locked(topic('a'))]))).toBe('settled')
  expect([counted, without.counted]).toEqual([['expired'], ['discarded:topicDeleted']])
})

function locked(topicArn: string): Message {
  return { ...message('', topicArn), sealed: 'by a key that is missing' }
}
