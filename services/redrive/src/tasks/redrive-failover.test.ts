/**
 * A failover of one of a cluster's masters. The source of a redrive loses its latest writes, and its target loses
 * nothing.
 */
import { queueArn } from '@fantail/contracts'
import { shardBase, shardOf } from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  DISTANT_TOPIC,
  drainLanes,
  drainQueue,
  type Fixture,
  makeDeadLetters,
  SOURCE,
  startFixture,
  subscribe,
} from '../redrive.fixture.ts'
import { runTask } from './run-task.ts'

const never = new AbortController().signal
let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.stop())

/** Stores all keys of the source's shard. The returned function restores them. */
async function remember(): Promise<() => Promise<void>> {
  const { redis } = fixture
  const base = shardBase(shardOf(SOURCE))
  const keys = await redis.keysBuffer(`${base}*`)
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)))
  return async () => {
    await redis.unlink(...(await redis.keysBuffer(`${base}*`)))
    await Promise.all(keys.map((key, i) => redis.restore(key, 0, dumps[i] ?? '')))
  }
}

/** Runs two batches of a task. Then the source forgets the end of the first batch and all of the second. */
async function failOver(destination: string | null): Promise<string> {
  const { redrives, batches } = fixture
  const task = await redrives.create({ source: SOURCE, destination, maxMessagesPerSecond: null, filter: {} })
  const run = { id: task.id, fence: (await batches.open(task.id)) ?? 0, destination, filter: {} }
  let forget = () => Promise.resolve()
  for (const first of [true, false]) {
    const choice = await batches.choose(run)
    if (choice.kind !== 'batch') throw new Error(`got ${choice.kind}`)
    if (first) forget = await remember()
    const result = await batches.move(run, choice.batch)
    if (result.kind !== 'moved') throw new Error(`got ${result.kind}`)
    await batches.finish(run, choice.batch.number, result.moved)
  }
  await forget()
  return task.id
}

test('it goes on to lanes, and all arrives', async () => {
  const id = await subscribe(fixture)
  const letters = await makeDeadLetters(fixture, id, 150)
  const task = await failOver(null)
  expect(await runTask(fixture, task, never)).toBe('completed')
  await drainLanes(fixture)
  expect(new Set(fixture.delivered)).toEqual(new Set(letters.map((letter) => `${id} ${letter} 1`)))
  expect((await fixture.queues.getWithCounts(SOURCE))?.counts).toEqual({
    visible: 0,
    inFlight: 0,
    delayed: 0,
  })
})

test('it goes on to another queue, and all arrives', async () => {
  const destination = queueArn('elsewhere')
  await fixture.queues.put(destination, {})
  await fixture.queues.send(
    SOURCE,
    Array.from({ length: 150 }, (_, i) => ({ body: `m${i}` })),
  )
  const task = await failOver(destination)
  await drainQueue(fixture, destination)
  expect(await runTask(fixture, task, never)).toBe('completed')
  expect((await fixture.queues.getWithCounts(SOURCE))?.counts).toEqual({
    visible: 0,
    inFlight: 0,
    delayed: 0,
  })
})

test('a batch gets a number after those of all targets, unless another run has the task', async () => {
  const { redis, redrives, batches } = fixture
  const id = await subscribe(fixture)
  await makeDeadLetters(fixture, id, 1)
  await makeDeadLetters(fixture, await subscribe(fixture, DISTANT_TOPIC), 1, { topicArn: DISTANT_TOPIC })
  const task = await redrives.create({
    source: SOURCE,
    destination: null,
    maxMessagesPerSecond: null,
    filter: {},
  })
  const run = { id: task.id, fence: (await batches.open(task.id)) ?? 0, destination: null, filter: {} }
  const choice = await batches.choose(run)
  if (choice.kind !== 'batch') throw new Error(`got ${choice.kind}`)
  const { shard = 0 } = (await fixture.subscriptions.locate(id)) ?? {}
  const [near, distant] = [shardBase(shard), shardBase(shardOf(DISTANT_TOPIC))]
  await redis.hset(`${near}redriven:${task.id}`, { f: run.fence, b: 9 })
  await redis.hset(`${distant}redriven:${task.id}`, { f: run.fence, b: 5 })
  expect(await batches.move(run, choice.batch)).toEqual({ kind: 'behind', laterBatch: 9 })
  await redis.hset(`${distant}redriven:${task.id}`, { f: run.fence + 1 })
  expect(await batches.move(run, choice.batch)).toEqual({ kind: 'stale' })
})
