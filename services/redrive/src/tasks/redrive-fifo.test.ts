/** Redrives from and to FIFO queues. */
import { queueArn } from '@fantail/contracts'
import { crashing } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { drainQueue, type Fixture, startFixture, storesOn } from '../redrive.fixture.ts'
import { type RunTaskDeps, runTask } from './run-task.ts'

const ORIGIN = queueArn('origin.fifo')
const DLQ = queueArn('dead.fifo')
const ELSEWHERE = queueArn('elsewhere.fifo')
const GROUPS = 3
const everything = { source: DLQ, destination: null, maxMessagesPerSecond: null, filter: {} }
const never = new AbortController().signal

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
beforeEach(() => begin())
afterAll(() => fixture.stop())

async function begin(): Promise<void> {
  await fixture.reset()
  for (const arn of [DLQ, ELSEWHERE]) await fixture.queues.put(arn, {})
  const redrivePolicy = { deadLetterTargetArn: DLQ, maxReceiveCount: 1 }
  await fixture.queues.put(ORIGIN, { redrivePolicy, contentBasedDeduplication: true })
}

/** Sends messages to the origin and lets all of them move to the dead-letter queue. Returns their bodies. */
async function exhaust(count: number): Promise<string[]> {
  const bodies = Array.from({ length: count }, (_, i) => `${i % GROUPS} ${String(i).padStart(4, '0')}`)
  await fixture.queues.send(
    ORIGIN,
    bodies.map((body) => ({ body, groupId: `g${body.charAt(0)}` })),
  )
  const receive = () => fixture.queues.receive(ORIGIN, { maxMessages: 10, visibilityTimeoutSeconds: 0 })
  while ((await countOf(DLQ)) < count) await receive()
  return bodies
}

async function countOf(arn: string): Promise<number> {
  const { visible = 0, inFlight = 0 } = (await fixture.queues.getWithCounts(arn))?.counts ?? {}
  return visible + inFlight
}

/** The bodies of each group, in the order in which they came. */
function byGroup(bodies: string[]): Record<string, string[]> {
  return Object.fromEntries(Map.groupBy(bodies, (body) => body.charAt(0)))
}

test('messages return to the queue they came from in the order of their groups, as new ones', async () => {
  const bodies = await exhaust(250)
  const task = await fixture.redrives.create(everything)
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 250, skipped: 0 })
  const [first] = await fixture.queues.receive(ORIGIN, { maxMessages: 1, visibilityTimeoutSeconds: 0 })
  expect(first).toMatchObject({ body: bodies[0], groupId: 'g0', sequenceNumber: '10000000000000000251' })
  expect(first?.deduplicationId).toBe(first?.messageId)
  await fixture.queues.patch(ORIGIN, { redrivePolicy: null })
  expect(byGroup(await drainQueue(fixture, ORIGIN))).toEqual(byGroup(bodies))
})

test('a destination is a FIFO queue too, and gets them in order', async () => {
  const bodies = await exhaust(120)
  const standard = queueArn('standard')
  await fixture.queues.put(standard, {})
  const invalid = { code: 'validation_failed', details: [{ path: 'destination' }] }
  await expect(fixture.redrives.create({ ...everything, destination: standard })).rejects.toMatchObject(
    invalid,
  )
  const backwards = { ...everything, source: standard, destination: DLQ }
  await expect(fixture.redrives.create(backwards)).rejects.toMatchObject(invalid)
  const task = await fixture.redrives.create({ ...everything, destination: ELSEWHERE })
  await runTask(fixture, task.id, never)
  expect(byGroup(await drainQueue(fixture, ELSEWHERE))).toEqual(byGroup(bodies))
  expect(await countOf(DLQ)).toBe(0)
})

test('a message that is chosen for a batch blocks its group, and keeps its place if it cannot be moved', async () => {
  const bodies = await exhaust(9)
  const task = await fixture.redrives.create({ ...everything, filter: { messageIds: await ids(2) } })
  const run = { id: task.id, fence: (await fixture.batches.open(task.id)) ?? 0, destination: null }
  const choice = await fixture.batches.choose({ ...run, filter: task.filter })
  if (choice.kind !== 'batch') throw new Error(`got ${choice.kind}`)
  const receive = async () =>
    (await fixture.queues.receive(DLQ, { maxMessages: 10, visibilityTimeoutSeconds: 0 })).map((m) => m.body)
  const others = bodies.filter((body) => !body.startsWith('0'))
  expect(byGroup(await receive())).toEqual(byGroup(others))
  await fixture.queues.delete(ORIGIN)
  await runTask(fixture, task.id, never)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 0, skipped: 2 })
  expect(byGroup(await receive())).toEqual(byGroup(bodies))
})

test('messages behind one in flight stay behind it, and go with it the next time', async () => {
  const bodies = await exhaust(1_500)
  const [inFlight] = await fixture.queues.receive(DLQ, { maxMessages: 1 })
  const handle = inFlight?.receiptHandle ?? ''
  const blocked = bodies.filter((body) => body.startsWith('0'))
  expect(inFlight?.body).toBe(blocked[0])
  let finished = 0
  const { batches } = fixture
  const backAfterTheFirst: RunTaskDeps['batches'] = {
    open: (id) => batches.open(id),
    purge: (run) => batches.purge(run),
    recordCanary: (...args) => batches.recordCanary(...args),
    choose: (run) => batches.choose(run),
    move: (run, batch) => batches.move(run, batch),
    renumber: (...args) => batches.renumber(...args),
    // By now the cursor is after the message.
    finish: async (...args) => {
      finished += 1
      if (finished === 1) await fixture.queues.changeVisibility(DLQ, [{ handle, seconds: 0 }])
      return batches.finish(...args)
    },
  }
  const task = await fixture.redrives.create({ ...everything, destination: ELSEWHERE })
  await runTask({ ...fixture, batches: backAfterTheFirst }, task.id, never)
  const counts = { moved: 1_500 - blocked.length, skipped: blocked.length }
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', ...counts })
  expect(await fixture.redis.keys('*:left')).toEqual([])
  const next = await fixture.redrives.create({ ...everything, destination: ELSEWHERE })
  await runTask(fixture, next.id, never)
  expect(await fixture.redrives.get(next.id)).toMatchObject({ moved: blocked.length, skipped: 0 })
  expect(byGroup(await drainQueue(fixture, ELSEWHERE))).toEqual(byGroup(bodies))
})

/** Ids of the first messages in the dead-letter queue. */
async function ids(count: number): Promise<string[]> {
  return (await fixture.queues.peek(DLQ, { limit: count })).items.map((m) => m.messageId)
}

test('a run that dies at any script and is run again moves each message once and in order', async () => {
  let steps = 0
  const counting = crashing(fixture.redis, () => {
    steps += 1
    return false
  })
  await scene((id) => runTask(storesOn(counting), id, never))
  expect(steps).toBeGreaterThanOrEqual(7)
  for (let step = 1; step <= steps; step++) {
    for (const after of [false, true]) {
      await begin()
      await scene(async (id) => {
        let n = 0
        const dying = storesOn(crashing(fixture.redis, () => ++n === step, after))
        await expect(runTask(dying, id, never)).rejects.toThrow('crashed')
        await runTask(fixture, id, never)
      })
    }
  }
})

/** Redrives more messages than one batch holds. All must arrive, in the order of their groups. */
async function scene(run: (id: string) => Promise<unknown>): Promise<void> {
  const bodies = await exhaust(110)
  const task = await fixture.redrives.create({ ...everything, destination: ELSEWHERE })
  await run(task.id)
  expect(await fixture.redrives.get(task.id)).toMatchObject({ status: 'completed', moved: 110, skipped: 0 })
  const { items } = await fixture.queues.peek(ELSEWHERE, { limit: 1_000 })
  expect(byGroup(items.map((m) => m.body))).toEqual(byGroup(bodies))
  expect(items.at(-1)?.sequenceNumber).toBe('10000000000000000110')
  expect(await countOf(DLQ)).toBe(0)
}
