/** Resends from archives: from blocks and from the ring behind them, as one source. */
import { createMessageId, type Message, parseMessageId, topicArn } from '@fantail/contracts'
import { Archives, type BlockStore, messageBody, shardBase, shardOf, sweepHolds } from '@fantail/store'
import { crashing } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  blocks,
  drainLanes,
  type Fixture,
  objects,
  startFixture,
  storesOn,
  subscribe,
} from '../redrive.fixture.ts'
import { runTask } from './run-task.ts'

const TOPIC = topicArn('orders')
const never = new AbortController().signal
let fixture: Fixture
let archives: Archives
let topic: { arn: string; uid: string }
let subscription: { id: string; arn: string }

beforeAll(async () => {
  fixture = await startFixture()
  archives = new Archives(fixture.redis, blocks)
})
beforeEach(() => begin())
afterAll(() => fixture.stop())

async function begin(): Promise<void> {
  await fixture.reset()
  const { uid } = await fixture.topics.patch(TOPIC, { archive: { days: 1 } })
  topic = { arn: TOPIC, uid }
  const id = await subscribe(fixture)
  subscription = { id, arn: `${TOPIC}:${id}` }
}

/** Puts messages into the topic's ring. Returns their ids. */
async function keep(count: number, set: (n: number) => Partial<Message> = () => ({})): Promise<string[]> {
  const made = Array.from({ length: count }, (_, n): Message => {
    const publishedAt = Date.now()
    const messageId = createMessageId(publishedAt)
    return { messageId, topicArn: TOPIC, publishedAt, message: `text ${n}`, ...set(n) }
  })
  await fixture.kept.keep(
    made.map((message) => {
      const id = parseMessageId(message.messageId) ?? Buffer.alloc(0)
      return { ...topic, isArchived: true, id, body: messageBody(message) }
    }),
  )
  return made.map(({ messageId }) => messageId)
}

/** Writes what the ring has into a block. */
const seal = () => archives.writeBlock(topic, { ageMs: 0 })

const create = (
  set: {
    since?: number
    until?: number
    untilKept?: number
    maxMessagesPerSecond?: number
    follows?: boolean
  } = {},
) =>
  fixture.redrives.createResend({
    subscriptionArn: subscription.arn,
    since: 0,
    maxMessagesPerSecond: null,
    ...set,
  })

async function placeOf() {
  const place = await fixture.subscriptions.locate(subscription.id)
  return { subscriptionId: subscription.id, shard: place?.shard ?? -1 }
}

/** The fixture's resends, with steps of a test's own. */
function resendsWith(own: Partial<Pick<typeof fixture.resends, 'choose' | 'goLive'>>) {
  const { resends } = fixture
  return {
    choose: resends.choose.bind(resends),
    move: resends.move.bind(resends),
    goLive: resends.goLive.bind(resends),
    release: resends.release.bind(resends),
    laneCapacity: resends.laneCapacity.bind(resends),
    ...own,
  }
}

/** The messages that the subscription got, in order. */
async function received(): Promise<string[]> {
  await drainLanes(fixture)
  return fixture.delivered.map((text) => text.split(' ')[1] ?? '')
}

test('[415] a subscription gets every archived message once, from blocks and from the ring', async () => {
  const ids = await keep(250)
  await seal()
  ids.push(...(await keep(30)))
  const task = await create()
  expect(task).toMatchObject({ status: 'running', matched: 280 })
  await keep(5)
  expect(await runTask(fixture, task.id, never)).toBe('completed')
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 280, skipped: 0 })
  expect((await received()).sort()).toEqual(ids.sort())
})

test('[417] the filter of the subscription and the bounds of the task decide what is sent', async () => {
  const started = Date.now()
  const size = (n: number) => ({ attributes: { size: { type: 'Number', value: String(n) } } })
  const ids = await keep(10, (n) => ({ ...size(n), publishedAt: started + n }))
  await seal()
  const filterPolicy = { size: [{ numeric: ['>', 4] }] }
  await fixture.subscriptions.update(subscription.id, () => ({ filterPolicy }))
  const task = await create({ since: started, until: started + 7 })
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 3, skipped: 7 })
  expect((await received()).sort()).toEqual(ids.slice(5, 8).sort())
})

test('a task between two times reads no block of another time', async () => {
  await keep(3, () => ({ publishedAt: Date.now() - 60_000 }))
  await seal()
  const second = await keep(3)
  await seal()
  objects.delete([...objects.keys()][0] ?? '')
  const task = await create({ since: Date.now() - 30_000 })
  expect(await runTask(fixture, task.id, never)).toBe('completed')
  expect((await received()).sort()).toEqual(second.sort())
})

test('a task whose block is lost fails and names the block', async () => {
  await keep(3)
  await seal()
  const [name] = objects.keys()
  objects.clear()
  const task = await create()
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({
    status: 'failed',
    error: `the archive lacks the block ${name}`,
  })
  expect(await received()).toEqual([])
})

test('a task that follows an archive goes on with new messages until its subscription gets them itself', async () => {
  const ids = await keep(3)
  const task = await fixture.redrives.createResend({
    subscriptionArn: subscription.arn,
    since: 0,
    maxMessagesPerSecond: null,
    follows: true,
  })
  const replay = { policy: '{}', task: task.id, holds: true }
  await fixture.subscriptions.update(subscription.id, () => ({ replay }))
  let isFirst = true
  const goLive: typeof fixture.resends.goLive = async (run) => {
    // These are kept when the task has caught up.
    if (isFirst) ids.push(...(await keep(2)))
    isFirst = false
    const own = await fixture.resends.goLive(run)
    ids.push(...(await keep(1)))
    return own
  }
  expect(await runTask({ ...fixture, resends: resendsWith({ goLive }) }, task.id, never)).toBe('completed')
  expect((await received()).sort()).toEqual(ids.sort())
  expect((await fixture.subscriptions.get(subscription.id))?.replay).toMatchObject({ holds: false })
})

test('a subscription gets new messages again after its replay was canceled or has failed', async () => {
  for (const end of ['canceled', 'failed'] as const) {
    await begin()
    await keep(3)
    await seal()
    const task = await create({ follows: true })
    const replay = { policy: '{}', task: task.id, holds: true }
    await fixture.subscriptions.update(subscription.id, () => ({ replay }))
    if (end === 'failed') objects.clear()
    const choose: typeof fixture.resends.choose = async (run) => {
      if (end === 'canceled') await fixture.redrives.cancel(task.id).catch(() => undefined)
      return fixture.resends.choose(run)
    }
    expect(await runTask({ ...fixture, resends: resendsWith({ choose }) }, task.id, never)).toBe(end)
    expect((await fixture.subscriptions.get(subscription.id))?.replay).toMatchObject({ holds: false })
  }
})

test('a task fails if the archive that it reads is deleted, though the topic keeps messages', async () => {
  await fixture.topics.patch(TOPIC, { keepMessages: { seconds: 60, bytes: 1_048_576 } })
  await keep(3)
  await seal()
  const task = await create()
  await fixture.topics.patch(TOPIC, { archive: null })
  await fixture.topics.patch(TOPIC, { archive: { days: 1 } })
  expect(await runTask(fixture, task.id, never)).toBe('failed')
  expect((await fixture.redrives.get(task.id))?.error).toContain('the archive was deleted')
  expect(await received()).toEqual([])
})

test('a task goes on from messages that the ring kept into an archive that begins meanwhile', async () => {
  await fixture.topics.patch(TOPIC, {
    archive: null,
    keepMessages: { seconds: 60, bytes: 1_048_576 },
  })
  const ids = await keep(150)
  const task = await create()
  let isFirst = true
  const choose: typeof fixture.resends.choose = async (run) => {
    const choice = await fixture.resends.choose(run)
    if (isFirst) await fixture.topics.patch(TOPIC, { archive: { days: 1 } })
    isFirst = false
    return choice
  }
  expect(await runTask({ ...fixture, resends: resendsWith({ choose }) }, task.id, never)).toBe('completed')
  expect((await received()).sort()).toEqual(ids.sort())
  // A later task finds both.
  await keep(20)
  await seal()
  const later = await create()
  expect(later.matched).toBe(170)
  expect(await runTask(fixture, later.id, never)).toBe('completed')
  expect(await fixture.redrives.get(later.id)).toMatchObject({ moved: 170, skipped: 0 })
})

test('a task until a time waits for messages that the log of a FIFO topic kept late', async () => {
  const ids = await keep(2)
  const [log, late] = [`${shardBase(shardOf(TOPIC))}log:${topic.uid}`, createMessageId(Date.now())]
  await fixture.redis.rpush(log, parseMessageId(late) ?? '')
  const [until, untilKept] = [Date.now() + 60_000, Date.now()]
  const task = await create({ until, untilKept })
  let pauses = 0
  const pause = async () => {
    if (++pauses !== 2) return
    ids.push(...(await keep(1)))
    await fixture.redis.del(log)
  }
  expect(await runTask({ ...fixture, pauses: { pause } }, task.id, never)).toBe('completed')
  expect([pauses, (await received()).sort()]).toEqual([2, ids.sort()])
})

test('a sweep ends holds that a dead process has left, and no others', async () => {
  const fifo = topicArn('orders.fifo')
  await fixture.topics.put(fifo, { archive: { days: 1 } })
  const end = ',"EndingPoint":"2026-11-27T11:00:00.000Z"'
  const replayWith = async (policy: string, ends: boolean) => {
    const id = await subscribe(fixture, fifo)
    const asked = { subscriptionArn: `${fifo}:${id}`, since: 0, maxMessagesPerSecond: null, follows: true }
    const task = await fixture.redrives.createResend(asked)
    await fixture.subscriptions.update(id, () => ({ replay: { policy, task: task.id, holds: true } }))
    if (ends) await fixture.redrives.cancel(task.id)
    return id
  }
  const ids = [
    await replayWith('{}', true),
    await replayWith('{}', false),
    await replayWith(`{"PointType":"Timestamp"${end}}`, true),
  ]
  expect(await sweepHolds(fixture.redis, fixture)).toBe(1)
  const holds = ids.map(async (id) => (await fixture.subscriptions.get(id))?.replay?.holds)
  expect(await Promise.all(holds)).toEqual([false, true, true])
})

test('a task waits while its lane has many waiting deliveries, and ends at once when it is canceled', async () => {
  await keep(1_200)
  const { id } = await create()
  const waiting = async () => (await fixture.lanes.figures([await placeOf()]))[0]?.waiting ?? 0
  let seen = 0
  const pause = async () => {
    seen = await waiting()
    await fixture.redrives.cancel(id)
  }
  expect(await runTask({ ...fixture, pauses: { pause } }, id, never)).toBe('canceled')
  expect(seen).toBe(1_000)
})

test('a task waits while the place of the archive is away, and continues where it was', async () => {
  const ids = await keep(3)
  await seal()
  const { id } = await create()
  const get: BlockStore['get'] = blocks.get
  blocks.get = () => Promise.reject(new Error('away'))
  await expect(runTask(fixture, id, never)).rejects.toThrow('away')
  blocks.get = get
  expect(await runTask(fixture, id, never)).toBe('completed')
  expect((await received()).sort()).toEqual(ids.sort())
})

test('a run that dies at any script sends each message once, though blocks take its messages from the ring', async () => {
  let steps = 0
  const counting = crashing(fixture.redis, () => {
    steps += 1
    return false
  })
  await scene((id) => runTask(storesOn(counting), id, never))
  expect(steps).toBeGreaterThanOrEqual(6)
  // Before a script, all is as after the one before it.
  const deaths = [[1, false], ...Array.from({ length: steps }, (_, i) => [i + 1, true] as const)] as const
  for (const [step, after] of deaths) {
    await begin()
    await scene(async (id) => {
      let n = 0
      const dying = storesOn(crashing(fixture.redis, () => ++n === step, after))
      await expect(runTask(dying, id, never)).rejects.toThrow('crashed')
      await drainLanes(fixture)
      // The open batch was in the ring.
      await seal()
      await runTask(fixture, id, never)
    })
  }
})

/** Three batches: of a block, of the block and the ring, and of the ring. */
async function scene(run: (id: string) => Promise<unknown>): Promise<void> {
  const ids = await keep(130)
  await seal()
  ids.push(...(await keep(120)))
  const task = await create()
  expect(task.matched).toBe(250)
  await run(task.id)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 250, skipped: 0 })
  expect((await received()).sort()).toEqual(ids.sort())
}
