/**
 * A listener may connect again after any event. It then gets all other events exactly once, however many streams the
 * log has.
 */
import { createMessageId } from '@fantail/contracts'
import {
  connect,
  formatPosition,
  Lanes,
  OutcomeLog,
  OutcomeReader,
  parsePosition,
  type Redis,
  SliceFinder,
  Snapshots,
  whenReady,
} from '@fantail/store'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EventListener, type Wanted } from './event-listener.ts'
import { LogFollower } from './log-follower.ts'

const QUEUES = 3
let server: TestRedis
let redis: Redis
let reader: OutcomeReader
let log: OutcomeLog
const opened: { follower: LogFollower; listener: EventListener }[] = []

beforeAll(async () => {
  server = await startRedis()
  redis = connect({ url: server.url, name: 'test' })
  await whenReady(redis)
  reader = new OutcomeReader(redis, { queues: QUEUES })
  log = new OutcomeLog(redis, new Snapshots(redis), new Lanes(redis), { queues: QUEUES, entriesMax: 10_000 })
})
afterAll(async () => {
  for (const { follower, listener } of opened) {
    listener.close('stopping')
    follower.leave(listener)
    await follower.stop()
  }
  redis.disconnect()
  await server.stop()
})

/** Writes the ends of `count` messages, which are spread over all streams. */
async function append(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => createMessageId(Date.now()))
  const ended = { subscriptionId: null, generation: 0, outcome: 'expired', reason: null } as const
  const state = { attempts: 0, statusCode: null, error: null }
  await log.append({ dispatch: [], lanes: ids.map((messageId) => ({ messageId, ...ended, ...state })) })
  return ids
}

interface Seen {
  id: string
  messageId: string
}

const createFollower = () =>
  new LogFollower({
    ...{ reader, finder: new SliceFinder(new Snapshots(redis)), isKept: true },
    ...{ report: () => undefined, onUnreadable: (error: Error) => Promise.reject(error) },
  })

function createListener(follower: LogFollower, set: Partial<Wanted>): EventListener {
  const listener = new EventListener({
    ...{ types: ['expired'], topicArn: undefined, subscriptionId: undefined, statuses: undefined },
    ...{ max: 1_000, account: undefined, prefixes: [], sees: () => true },
    ...{ clock: () => Date.now(), onGone: () => undefined },
    ...set,
  })
  opened.push({ follower, listener })
  return listener
}

/** A separate process with one listener. The returned function reads until it has `count` events. */
async function listen(id?: string): Promise<(count: number) => Promise<Seen[]>> {
  const follower = createFollower()
  const listener = createListener(follower, {})
  const text = collect(listener)
  await follower.join(listener, id === undefined ? undefined : parsePosition(id))
  const events = () =>
    [...text().matchAll(/^id: (.*)\nevent: expired\ndata: (.*)$/gm)].map(([, at = '', data = '{}']) => ({
      id: at,
      messageId: String(JSON.parse(data).messageId),
    }))
  return async (count) => {
    await waitFor(() => events().length >= count, { what: `${count} events after ${id}` })
    return events()
  }
}

function collect(listener: EventListener): () => string {
  const decoder = new TextDecoder()
  let text = ''
  void (async () => {
    for await (const bytes of listener.readable) text += decoder.decode(bytes, { stream: true })
  })()
  return () => text
}

test('behind each event come all others once', async () => {
  const read = await listen()
  const first = await append(12)
  await read(first.length)
  // The first bundles end in one stream after the other, and meanwhile all streams have further bundles.
  const ids = [...first, ...(await append(7))]
  const all = await read(ids.length)
  expect(all.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted())
  for (const [n, { id }] of all.slice(0, -1).entries()) {
    const seen = all.slice(0, n + 1).map(({ messageId }) => messageId)
    const rest = await (await listen(id))(ids.length - n - 1)
    expect([...seen, ...rest.map(({ messageId }) => messageId)].toSorted()).toEqual(ids.toSorted())
  }
})

test('behind the newest position comes only what is later', async () => {
  const last = formatPosition(await reader.newest())
  const ids = await append(5)
  const rest = await (await listen(last))(5)
  expect(rest.map(({ messageId }) => messageId).toSorted()).toEqual(ids.toSorted())
})

test.each<{ name: string; wishes: Partial<Wanted>[]; counts: number[] }>([
  { name: 'all get full', wishes: [{ max: 3 }, { max: 200 }, { max: 3 }], counts: [450, 450, 450] },
  {
    name: 'some never get full',
    wishes: [{ max: 3 }, {}, { max: 2, statuses: ['5xx'] }, { topicArn: 'x' }],
    counts: [450, 450, 0, 0],
  },
])('each listener gets or counts every event that it wants: $name', async ({ wishes, counts }) => {
  const follower = createFollower()
  const types = ['delivered', 'parked'] as const
  const listeners = wishes.map((wish) => createListener(follower, { types, ...wish }))
  const texts = listeners.map(collect)
  for (const listener of listeners) await follower.join(listener)
  const nothing = { filtered: Buffer.alloc(0), otherCodes: [], failures: [] }
  const found = { ...nothing, delivered: Buffer.from([0xff]), parked: Buffer.from([0, 1]) }
  for (let n = 0; n < 50; n++) {
    const message = { messageId: createMessageId(Date.now()), topicArn: 'orders', sizeBytes: 1 }
    await log.append({
      dispatch: [{ ...message, slice: { sliceId: 'orders', shard: 0 }, ...found }],
      lanes: [],
    })
  }
  const seen = () =>
    texts.map((text, n) => {
      listeners[n]?.tick()
      const gaps = [...text().matchAll(/"dropped":(\d+)/g)]
      const dropped = gaps.reduce((sum, [, count]) => sum + Number(count), 0)
      return [...text().matchAll(/^event: (delivered|parked)$/gm)].length + dropped
    })
  const isComplete = () => seen().every((count, n) => count >= (counts[n] ?? 0))
  await waitFor(isComplete, { what: 'every event to be shown or counted' })
  expect(seen()).toEqual(counts)
  expect(texts[0]?.()).toMatch(/"why":"rate"/)
})
