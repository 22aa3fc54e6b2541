import { queueArn } from '@fantail/contracts'
import { redriveKey, redrivingKey, shardBase, shardOf } from '@fantail/store'
import { crashing, startFairTimer, waitFor, waitingFirst } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  DISTANT_TOPIC,
  drainLanes,
  drainQueue,
  type Fixture,
  makeDeadLetters,
  SOURCE,
  setSkew,
  startFixture,
  storesOn,
  subscribe,
} from '../redrive.fixture.ts'
import { judgeCanary, runTask } from './run-task.ts'

const never = new AbortController().signal
let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.stop())

const everything = { source: SOURCE, destination: null, maxMessagesPerSecond: null, filter: {} }
const visible = async () => (await fixture.queues.getWithCounts(SOURCE))?.counts

test('dead letters return to their subscriptions with a new generation, and the task counts them', async () => {
  const [a, b] = [await subscribe(fixture), await subscribe(fixture)]
  const ofA = await makeDeadLetters(fixture, a, 150)
  const ofB = await makeDeadLetters(fixture, b, 3, { generation: 4 })
  const task = await fixture.redrives.create(everything)
  expect(task).toMatchObject({ status: 'running', matched: 153, moved: 0, skipped: 0, endedAt: null })
  expect(await runTask(fixture, task.id, never)).toBe('completed')
  await drainLanes(fixture)
  const expected = [...ofA.map((id) => `${a} ${id} 1`), ...ofB.map((id) => `${b} ${id} 5`)]
  expect(fixture.delivered.sort()).toEqual(expected.sort())
  expect(await fixture.redrives.get(task.id)).toMatchObject({
    status: 'completed',
    matched: 153,
    moved: 153,
    skipped: 0,
  })
  expect(await visible()).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
  expect(await fixture.queues.deadLetterCounts(SOURCE)).toEqual({
    byReason: {},
    byStatusCode: {},
    bySubscription: {},
  })
})

test('a move waits for all shards side by side: lanes, and the queues that messages came from', async () => {
  const origins = [queueArn('origin'), queueArn('other-origin')]
  const redrivePolicy = { deadLetterTargetArn: SOURCE, maxReceiveCount: 1 }
  for (const arn of origins) {
    await fixture.queues.put(arn, { redrivePolicy })
    await fixture.queues.send(arn, [{ body: arn }])
    await fixture.queues.receive(arn, { maxMessages: 1, visibilityTimeoutSeconds: 0 })
    await fixture.queues.receive(arn, { maxMessages: 1 })
  }
  const [near, distant] = [await subscribe(fixture), await subscribe(fixture, DISTANT_TOPIC)]
  const [ofNear] = await makeDeadLetters(fixture, near, 1)
  const [ofDistant] = await makeDeadLetters(fixture, distant, 1, { topicArn: DISTANT_TOPIC })
  const task = await fixture.redrives.create(everything)
  const waiting = waitingFirst(waitingFirst(fixture.redis, 'append-redriven-1'), 'park-redriven-1')
  await runTask(storesOn(waiting), task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 4, skipped: 0 })
  await drainLanes(fixture)
  expect(fixture.delivered.sort()).toEqual([`${near} ${ofNear} 1`, `${distant} ${ofDistant} 1`].sort())
  expect(await Promise.all(origins.map((arn) => drainQueue(fixture, arn)))).toEqual(
    origins.map((arn) => [arn]),
  )
})

test('a message whose subscription is gone stays, can be received, and counts as skipped', async () => {
  const gone = await subscribe(fixture)
  await makeDeadLetters(fixture, gone, 2)
  await fixture.queues.send(SOURCE, [{ body: 'never was a dead letter' }])
  await fixture.subscriptions.delete(gone)
  const task = await fixture.redrives.create(everything)
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 0, skipped: 3 })
  expect((await drainQueue(fixture, SOURCE)).length).toBe(3)
})

test('a message that a consumer has in flight stays with it', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 3)
  await fixture.queues.receive(SOURCE, { maxMessages: 1 })
  const task = await fixture.redrives.create(everything)
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ moved: 2, skipped: 1 })
  expect(await visible()).toEqual({ visible: 0, inFlight: 1, delayed: 0 })
})

test('messages moved by maxReceiveCount return to the queue they came from', async () => {
  const origin = queueArn('origin')
  await fixture.queues.put(origin, {
    redrivePolicy: { deadLetterTargetArn: SOURCE, maxReceiveCount: 1 },
  })
  const [sent] = await fixture.queues.send(origin, [{ body: 'poison' }])
  await fixture.queues.receive(origin, { maxMessages: 1, visibilityTimeoutSeconds: 0 })
  await fixture.queues.receive(origin, { maxMessages: 1 })
  const task = await fixture.redrives.create(everything)
  await runTask(fixture, task.id, never)
  const [again] = await fixture.queues.receive(origin, { maxMessages: 1 })
  expect(again).toMatchObject({ body: 'poison', receiveCount: 1 })
  expect(again?.messageId).not.toBe(sent?.messageId)
  expect(again).not.toHaveProperty('deadLetterSourceArn')
})

test('with a destination all of it goes there, and the task fails when that queue goes away', async () => {
  const id = await subscribe(fixture)
  const destination = queueArn('elsewhere')
  await fixture.queues.put(destination, {})
  const messages = await makeDeadLetters(fixture, id, 120)
  const first = await fixture.redrives.create({ ...everything, destination })
  await runTask(fixture, first.id, never)
  expect((await drainQueue(fixture, destination)).sort()).toEqual(messages.map((m) => `text of ${m}`).sort())
  await makeDeadLetters(fixture, id, 2)
  const second = await fixture.redrives.create({ ...everything, destination })
  await fixture.queues.delete(destination)
  const told: unknown[] = []
  await runTask({ ...fixture, onMoved: (...batch) => told.push(batch) }, second.id, never)
  expect(told).toEqual([[0, 2, SOURCE]])
  expect(await fixture.redrives.get(second.id)).toMatchObject({
    status: 'failed',
    error: 'the destination queue is gone',
    moved: 0,
  })
  expect((await visible())?.visible).toBe(2)
})

test('filters choose by subscription, status code, time and either id', async () => {
  const [a, b] = [await subscribe(fixture), await subscribe(fixture)]
  const now = Date.now()
  const [early = ''] = await makeDeadLetters(fixture, a, 1, { deadLetteredAt: now - 5_000 })
  await makeDeadLetters(fixture, a, 1, { statusCode: 404 })
  const [late = ''] = await makeDeadLetters(fixture, b, 1)
  const { items } = await fixture.queues.peek(SOURCE, { limit: 10, statusCode: 404 })
  const matched = async (filter: object) => (await fixture.redrives.dryRun(SOURCE, filter)).matched
  expect(await matched({ subscription: items[0]?.deadLetter?.subscriptionArn })).toBe(2)
  expect(await matched({ statusCode: 500 })).toBe(2)
  expect(await matched({ since: now - 4_000 })).toBe(2)
  expect(await matched({ until: now - 4_000 })).toBe(1)
  expect(await matched({ messageIds: [late, items[0]?.messageId ?? '', 'other'] })).toBe(2)
  const task = await fixture.redrives.create({ ...everything, filter: { messageIds: [early] } })
  await runTask(fixture, task.id, never)
  await drainLanes(fixture)
  expect(fixture.delivered).toEqual([`${a} ${early} 1`])
  expect((await visible())?.visible).toBe(2)
})

test('a redrive of one reason leaves the letters of others', async () => {
  const a = await subscribe(fixture)
  const [refused = ''] = await makeDeadLetters(fixture, a, 1, { reason: 'permanent' })
  await makeDeadLetters(fixture, a, 2)
  const task = await fixture.redrives.create({ ...everything, filter: { reason: 'permanent' } })
  expect(task.matched).toBe(1)
  await runTask(fixture, task.id, never)
  await drainLanes(fixture)
  expect(fixture.delivered).toEqual([`${a} ${refused} 1`])
  expect((await visible())?.visible).toBe(2)
})

test('a dry run counts page by page and changes nothing', async () => {
  const [a, b] = [await subscribe(fixture), await subscribe(fixture)]
  await makeDeadLetters(fixture, a, 1_500, { statusCode: 503 })
  await makeDeadLetters(fixture, b, 700, { statusCode: null })
  await fixture.queues.send(SOURCE, [{ body: 'plain' }])
  const counts = await fixture.redrives.dryRun(SOURCE, {})
  expect(counts.matched).toBe(2_201)
  expect(counts.byStatusCode).toEqual({ 503: 1_500, none: 700 })
  expect(Object.values(counts.bySubscription).sort()).toEqual([1_500, 700])
  expect((await fixture.redrives.list({ limit: 10 })).items).toEqual([])
})

test('a message that fails again during the redrive is left for the next one', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 1)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 1 })
  await makeDeadLetters(fixture, id, 5, { generation: 1, deadLetteredAt: Date.now() + 100 })
  await setSkew(fixture.redis, 60_000)
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 1 })
  expect((await visible())?.visible).toBe(5)
})

test('the rate holds, and a change of it acts within a second', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 400)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 40 })
  const [from, tookFairly] = [performance.now(), startFairTimer(fixture.server.pid())]
  const moved: { count: number; at: number }[] = []
  const onMoved = (count: number) => moved.push({ count, at: performance.now() - from })
  const running = runTask({ ...fixture, onMoved }, task.id, never)
  const total = (before = Number.POSITIVE_INFINITY) =>
    moved.filter(({ at }) => at < before).reduce((sum, { count }) => sum + count, 0)
  await waitFor(() => total() >= 80)
  expect(tookFairly()).toBeLessThan(4_000)
  expect(total(1_000)).toBeLessThanOrEqual(50)
  await fixture.redrives.patch(task.id, { maxMessagesPerSecond: null })
  const took = startFairTimer(fixture.server.pid())
  await running
  expect(took()).toBeLessThan(1_000)
  expect(total()).toBe(400)
})

test('pause ends the run between batches, resume goes on where it was', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 60)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 40 })
  let moved = 0
  const onMoved = (count: number) => {
    moved += count
  }
  const running = runTask({ ...fixture, onMoved }, task.id, never)
  await waitFor(() => moved > 0)
  expect(await fixture.redrives.pause(task.id)).toMatchObject({ status: 'paused' })
  expect(await running).toBe('paused')
  expect(await runTask(fixture, task.id, never)).toBe('nothing')
  expect(await visible()).toEqual({ visible: 60 - moved, inFlight: 0, delayed: 0 })
  await fixture.redrives.patch(task.id, { maxMessagesPerSecond: null })
  await fixture.redrives.resume(task.id)
  expect(await runTask(fixture, task.id, AbortSignal.abort())).toBe('stopped')
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 60 })
})

test('cancel leaves what has not been moved; a task between batches is canceled at once', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 3)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 1 })
  const fence = (await fixture.batches.open(task.id)) ?? 0
  const run = { id: task.id, fence, destination: null, filter: {} }
  expect(await fixture.batches.choose(run)).toMatchObject({ kind: 'batch' })
  expect(await fixture.redrives.cancel(task.id)).toMatchObject({ status: 'canceling', endedAt: null })
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'canceled', moved: 1 })
  expect(await visible()).toEqual({ visible: 2, inFlight: 0, delayed: 0 })
  const second = await fixture.redrives.create(everything)
  expect(await fixture.redrives.cancel(second.id)).toMatchObject({
    status: 'canceled',
    endedAt: expect.any(Number),
  })
  for (const change of ['pause', 'resume', 'cancel'] as const) {
    await expect(fixture.redrives[change](second.id)).rejects.toMatchObject({ code: 'wrong_state' })
  }
})

test('a source has one active task, however many ask at the same time', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 1)
  const asked = await Promise.allSettled(Array.from({ length: 5 }, () => fixture.redrives.create(everything)))
  const created = asked.filter((result) => result.status === 'fulfilled')
  expect(created.length).toBe(1)
  await expect(fixture.redrives.create(everything)).rejects.toMatchObject({ code: 'redrive_active' })
  await runTask(fixture, created[0]?.value.id ?? '', never)
  await fixture.redrives.create(everything)
})

test('queues that do not exist are refused, and a source that goes away fails the task', async () => {
  const nowhere = queueArn('nowhere')
  await expect(fixture.redrives.create({ ...everything, source: nowhere })).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(fixture.redrives.dryRun(nowhere, {})).rejects.toMatchObject({ code: 'not_found' })
  for (const destination of [nowhere, SOURCE]) {
    await expect(fixture.redrives.create({ ...everything, destination })).rejects.toMatchObject({
      code: 'validation_failed',
    })
  }
  const task = await fixture.redrives.create(everything)
  await fixture.queues.delete(SOURCE)
  await fixture.queues.put(SOURCE, {})
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({
    status: 'failed',
    error: 'the source queue is gone',
  })
  expect(await fixture.redrives.get('no-such-task')).toBeNull()
})

test('a paused task ends with its source, and a new queue of the name can be redriven', async () => {
  const task = await fixture.redrives.create(everything)
  await fixture.redrives.pause(task.id)
  await fixture.queues.delete(SOURCE)
  expect(await fixture.redrives.get(task.id)).toMatchObject({
    status: 'failed',
    error: 'the source queue is gone',
    endedAt: expect.any(Number),
  })
  await fixture.queues.put(SOURCE, {})
  const next = await fixture.redrives.create(everything)
  expect(await runTask(fixture, next.id, never)).toBe('completed')
})

test('tasks are listed newest first, by source and status, page by page', async () => {
  const sources = ['s1', 's2', 's3'].map((name) => queueArn(name))
  const ids: string[] = []
  for (const source of [...sources, ...sources]) {
    await fixture.queues.put(source, {})
    const task = await fixture.redrives.create({ ...everything, source })
    ids.unshift(task.id)
    if (ids.length <= 3) await runTask(fixture, task.id, never)
  }
  const listed = async (request: object) =>
    (await fixture.redrives.list({ limit: 10, ...request })).items.map((task) => task.id)
  expect(await listed({})).toEqual(ids)
  expect(await listed({ status: 'running' })).toEqual(ids.slice(0, 3))
  expect(await listed({ source: sources[0] })).toEqual([ids[2], ids[5]])
  const first = await fixture.redrives.list({ limit: 4 })
  const rest = await fixture.redrives.list({ limit: 4, cursor: first.nextCursor ?? '' })
  expect([...first.items, ...rest.items].map((task) => task.id)).toEqual(ids)
  expect(rest.nextCursor).toBeNull()
  expect((await fixture.redrives.runnable()).sort()).toEqual(ids.slice(0, 3).sort())
})

test('ended tasks leave the list when their time is over', async () => {
  const task = await fixture.redrives.create(everything)
  await runTask(fixture, task.id, never)
  const base = shardBase(shardOf(SOURCE))
  expect(await fixture.redis.pttl(redriveKey(base, task.id))).toBeGreaterThan(13 * 86_400_000)
  await fixture.redis.del(redriveKey(base, task.id))
  await fixture.redrives.sweep()
  expect(await fixture.redis.exists(`${base}redrives`, redrivingKey(base))).toBe(0)
})

test('a run that has been overtaken changes nothing', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 2)
  const task = await fixture.redrives.create({ ...everything, maxMessagesPerSecond: 4 })
  const zombie = {
    id: task.id,
    fence: (await fixture.batches.open(task.id)) ?? 0,
    destination: null,
    filter: {},
  }
  const choice = await fixture.batches.choose(zombie)
  if (choice.kind !== 'batch') throw new Error(`got ${choice.kind}`)
  await runTask(fixture, task.id, never)
  await drainLanes(fixture)
  expect(await fixture.batches.choose(zombie)).toEqual({ kind: 'stale' })
  expect(await fixture.batches.move(zombie, choice.batch)).toEqual({ kind: 'stale' })
  expect(await fixture.batches.finish(zombie, choice.batch.number, new Map())).toBe(false)
  await drainLanes(fixture)
  expect(fixture.delivered.length).toBe(2)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 2 })
})

test('a batch is not ended, and is moved again, where Redis may have lost what it moved', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 2)
  const task = await fixture.redrives.create(everything)
  const run = {
    id: task.id,
    fence: (await fixture.batches.open(task.id)) ?? 0,
    destination: null,
    filter: {},
  }
  const choice = await fixture.batches.choose(run)
  if (choice.kind !== 'batch') throw new Error(`got ${choice.kind}`)
  const result = await fixture.batches.move(run, choice.batch)
  if (result.kind !== 'moved') throw new Error(`got ${result.kind}`)
  const marks = result.marks.map((mark) => ({ ...mark, holds: () => false }))
  const finish = fixture.batches.finish(run, choice.batch.number, result.moved, { marks })
  await expect(finish).rejects.toThrow('closed')
  expect(await fixture.batches.choose(run)).toEqual(choice)
  await runTask(fixture, task.id, never)
  await drainLanes(fixture)
  expect(fixture.delivered.length).toBe(2)
})

describe('a run that dies at any script, before or after it is carried out, and is run again', () => {
  const destination = queueArn('destination')

  /** Names of the scripts of one whole run, in order. */
  async function scriptsOf(to: string | null): Promise<number> {
    let scripts = 0
    const counting = crashing(fixture.redis, () => {
      scripts += 1
      return false
    })
    await scene(to, (id) => runTask(storesOn(counting), id, never))
    return scripts
  }

  /**
   * Dead letters of two subscriptions in different shards, in more than one batch. Returns the deliveries that must
   * come out.
   */
  async function scene(to: string | null, run: (id: string) => Promise<unknown>): Promise<string[]> {
    await fixture.reset()
    await fixture.queues.put(destination, {})
    const [near, distant] = [await subscribe(fixture), await subscribe(fixture, DISTANT_TOPIC)]
    const messages = await makeDeadLetters(fixture, near, 55)
    messages.push(...(await makeDeadLetters(fixture, distant, 55, { topicArn: DISTANT_TOPIC })))
    const task = await fixture.redrives.create({ ...everything, destination: to })
    await run(task.id)
    expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 110, skipped: 0 })
    return messages
  }

  for (const to of [null, destination]) {
    test(`moves each message exactly once to ${to ?? 'its subscription'}`, async () => {
      const steps = await scriptsOf(to)
      expect(steps).toBeGreaterThanOrEqual(7)
      for (let step = 1; step <= steps; step++) {
        for (const after of [false, true]) {
          const consumed: string[] = []
          const consume = async () => {
            await drainLanes(fixture)
            consumed.push(...(await drainQueue(fixture, destination)))
          }
          const messages = await scene(to, async (id) => {
            let n = 0
            const dying = storesOn(crashing(fixture.redis, () => ++n === step, after))
            await expect(runTask(dying, id, never)).rejects.toThrow('crashed')
            await consume()
            await runTask(fixture, id, never)
          })
          await consume()
          const out =
            to === null
              ? fixture.delivered.map((line) => line.split(' ')[1])
              : consumed.map((b) => b.slice(8))
          expect(out.sort(), `step ${step}, ${after ? 'after' : 'before'}`).toEqual(messages.sort())
          expect(await visible()).toEqual({ visible: 0, inFlight: 0, delayed: 0 })
        }
      }
    })
  }
})

test('a purge task removes what matched when it began, and goes on where it was paused', async () => {
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 1_200, { reason: 'permanent' })
  await makeDeadLetters(fixture, id, 2)
  await fixture.queues.send(SOURCE, [{ body: 'plain' }])
  const task = await fixture.redrives.createPurge(SOURCE, { reason: 'permanent' })
  await makeDeadLetters(fixture, id, 1, { reason: 'permanent' })
  const stop = new AbortController()
  const onPurged = () => stop.abort()
  expect(await runTask({ ...fixture, onPurged }, task.id, stop.signal)).toBe('stopped')
  expect((await fixture.redrives.get(task.id))?.moved).toBe(500)
  await fixture.redrives.pause(task.id)
  expect(await runTask(fixture, task.id, never)).toBe('nothing')
  await fixture.redrives.resume(task.id)
  expect(await runTask(fixture, task.id, never)).toBe('completed')
  expect(await fixture.redrives.get(task.id)).toMatchObject({ action: 'purge', matched: 1_200, moved: 1_200 })
  expect((await visible())?.visible).toBe(4)
})

async function withCanary() {
  await makeDeadLetters(fixture, await subscribe(fixture), 20)
  const task = await fixture.redrives.create({ ...everything, canary: 5 })
  const run = runTask(fixture, task.id, never)
  const now = async () => (await fixture.redrives.get(task.id)) ?? task
  await waitFor(async () => (await now()).moved === 5)
  return { run, now }
}

test('a canary goes first, and the others follow when it was delivered', async () => {
  const { run, now } = await withCanary()
  await drainLanes(fixture)
  expect(await run).toBe('completed')
  expect(await now()).toMatchObject({ status: 'completed', moved: 20, delivered: 5, pauseReason: null })
  await drainLanes(fixture, { op: 'deadLettered' })
  expect(await now()).toMatchObject({ delivered: 5, backInDlq: 15, discarded: 0 })
})

test('a canary that fails pauses the task with a reason, and resuming moves the others', async () => {
  const { run, now } = await withCanary()
  await drainLanes(fixture, { op: 'deadLettered' })
  expect(await run).toBe('paused')
  const paused = await now()
  expect(paused).toMatchObject({ moved: 5, backInDlq: 5, pauseReason: '5 of 5 first messages failed again' })
  await fixture.redrives.resume(paused.id)
  expect(await runTask(fixture, paused.id, never)).toBe('completed')
  expect(await now()).toMatchObject({ moved: 20, pauseReason: null })
})

test('a canary without ends is judged by what was delivered in time', () => {
  const facts = { delivered: 4, backInDlq: 0, discarded: 0, inLanes: 10 }
  expect(judgeCanary(facts, 119_999)).toBe('wait')
  expect(judgeCanary(facts, 120_000)).toEqual({ pause: '6 of 10 first messages were not delivered in 120 s' })
  expect(judgeCanary({ ...facts, delivered: 8 }, 120_000)).toBe('goOn')
  expect(judgeCanary({ ...facts, delivered: 8, backInDlq: 2 }, 0)).toBe('goOn')
  expect(judgeCanary({ ...facts, discarded: 3 }, 0)).toEqual({ pause: '3 of 10 first messages failed again' })
})
