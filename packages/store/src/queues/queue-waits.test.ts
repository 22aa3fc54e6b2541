import { randomUUID } from 'node:crypto'
import { startFairTimer, waitFor } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WAKE_QUEUES } from '../keys/keys.ts'
import { KEYLESS, testSeals } from '../records/body-seals.fixture.ts'
import { SealKeyError } from '../records/sealed-messages.ts'
import { connect, whenReady } from '../redis/connections/connect.ts'
import { AttemptChangedError } from './items/queue-errors.ts'
import { QueueWaits } from './queue-waits.ts'
import { newArn, newFifoArn, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const fixture = await useQueues()
let subscriber: Redis
let waits: QueueWaits
let arn: string
beforeEach(async () => {
  arn = newArn()
  await fixture.queues.put(arn, {})
  subscriber = connect({ url: fixture.server.url, name: 'subscriber', commandTimeoutMs: null })
  waits = new QueueWaits({ queues: fixture.queues, subscriber })
  await whenReady(subscriber)
  await waitFor(async () => (await subscribers()) === 1)
})
afterEach(() => {
  waits.close()
  subscriber.disconnect()
})

async function subscribers(): Promise<number> {
  const [, count] = (await fixture.redis.pubsub('NUMSUB', WAKE_QUEUES)) as [string, number]
  return Number(count)
}

async function scriptCalls(): Promise<number> {
  const info = await fixture.redis.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0)
}

const wait = (seconds: number, more = {}) =>
  waits.receiveWaiting(arn, { maxMessages: 10, waitSeconds: seconds, ...more })

/** Resolves when the waits have looked at the queue and now wait for an event. */
async function settled(): Promise<void> {
  let before = -1
  await waitFor(async () => {
    const now = await scriptCalls()
    const still = now === before
    before = now
    return still
  })
}

test('[170] a wait returns at once when there is a message, and as soon as one arrives', async () => {
  await fixture.queues.send(arn, [{ body: 'there' }])
  expect(await wait(20)).toMatchObject([{ body: 'there' }])
  const waiting = wait(20)
  await settled()
  const took = startFairTimer(fixture.server.pid())
  await fixture.queues.send(arn, [{ body: 'later' }])
  expect(await waiting).toMatchObject([{ body: 'later' }])
  expect(took()).toBeLessThan(500)
})

test('a wait ends empty when its time is up', async () => {
  const from = performance.now()
  expect(await wait(0.3)).toEqual([])
  expect(performance.now() - from).toBeGreaterThanOrEqual(295)
})

test('a delay that ends and a visibility timeout that runs out end a wait', async () => {
  await fixture.queues.send(arn, [{ body: 'a', delaySeconds: 0.2 }])
  expect(await wait(20, { visibilityTimeoutSeconds: 0.3 })).toMatchObject([{ body: 'a' }])
  expect(await wait(20)).toMatchObject([{ body: 'a', receiveCount: 2 }])
})

test('a message shown again by visibility 0 ends a wait', async () => {
  await fixture.queues.send(arn, [{ body: 'a' }])
  const [message] = await wait(1)
  const waiting = wait(20)
  await settled()
  await fixture.queues.changeVisibility(arn, [{ handle: message?.receiptHandle ?? '', seconds: 0 }])
  expect(await waiting).toMatchObject([{ receiveCount: 2 }])
})

test('in a FIFO queue what was behind a deleted message ends a wait, as does what has waited for its delay', async () => {
  const { queues } = fixture
  const fifo = newFifoArn()
  await queues.put(fifo, { contentBasedDeduplication: true })
  const receive = (waitSeconds: number) => waits.receiveWaiting(fifo, { maxMessages: 1, waitSeconds })
  await queues.send(fifo, [
    { body: 'a', groupId: 'g' },
    { body: 'b', groupId: 'g' },
  ])
  const [first] = await receive(0)
  const waiting = receive(20)
  await settled()
  const took = startFairTimer(fixture.server.pid())
  await queues.ack(fifo, [first?.receiptHandle ?? ''])
  expect(await waiting).toMatchObject([{ body: 'b' }])
  expect(took()).toBeLessThan(500)
  await queues.patch(fifo, { delaySeconds: 0.3 })
  await queues.send(fifo, [{ body: 'c', groupId: 'h' }])
  expect(await receive(20)).toMatchObject([{ body: 'c' }])
})

test('each message goes to one of those who wait, in the order in which they came', async () => {
  const waiting = [1, 2, 3].map(() => wait(20, { maxMessages: 1 }))
  await settled()
  await fixture.queues.send(arn, [{ body: 'a' }, { body: 'b' }, { body: 'c' }])
  const bodies = (await Promise.all(waiting)).map((messages) => messages.map((m) => m.body))
  expect(bodies).toEqual([['a'], ['b'], ['c']])
})

test('a hundred waits on an empty queue make next to no round trips', async () => {
  const before = await scriptCalls()
  const from = performance.now()
  await Promise.all(Array.from({ length: 100 }, () => wait(1)))
  const seconds = (performance.now() - from) / 1_000
  expect((await scriptCalls()) - before).toBeLessThan(100 + 2 * seconds)
})

test('an aborted wait ends at once and takes no message with it', async () => {
  const controller = new AbortController()
  const waiting = wait(20, { signal: controller.signal })
  await settled()
  controller.abort()
  expect(await waiting).toEqual([])
  await fixture.queues.send(arn, [{ body: 'a' }])
  expect(await wait(20)).toMatchObject([{ body: 'a', receiveCount: 1 }])
  expect(await wait(20, { signal: controller.signal })).toEqual([])
})

test('a message that was received for a wait that has been aborted goes to the next one', async () => {
  const controller = new AbortController()
  await fixture.queues.send(arn, [{ body: 'a' }])
  const aborted = wait(20, { signal: controller.signal })
  const next = wait(20)
  controller.abort()
  expect(await aborted).toEqual([])
  expect(await next).toMatchObject([{ body: 'a', receiveCount: 2 }])
})

test('an attempt that cannot be repeated fails its own wait and none beside it', async () => {
  const fifo = newFifoArn()
  await fixture.queues.put(fifo, {})
  const item = { body: 'a', groupId: 'g', deduplicationId: '1' }
  await fixture.queues.send(fifo, [item])
  const [first] = await fixture.queues.receive(fifo, { maxMessages: 1, attemptId: 'x' })
  await fixture.queues.ack(fifo, [first?.receiptHandle ?? ''])
  const asked = { maxMessages: 1, waitSeconds: 20 }
  const changed = waits.receiveWaiting(fifo, { ...asked, attemptId: 'x' })
  const other = waits.receiveWaiting(fifo, asked)
  await expect(changed).rejects.toBeInstanceOf(AttemptChangedError)
  await fixture.queues.send(fifo, [{ ...item, deduplicationId: '2' }])
  expect(await other).toMatchObject([{ body: 'a' }])
})

test('a wait that finds only locked messages fails, and none beside it', async () => {
  const sealing = new Queues(fixture.redis, { seals: testSeals() })
  const queues = new Queues(fixture.redis, { seals: KEYLESS })
  const locked = new QueueWaits({ queues, subscriber })
  await sealing.send(arn, [{ body: 'secret', sealed: true }])
  const asked = { maxMessages: 1, waitSeconds: 20 }
  const failing = locked.receiveWaiting(arn, asked)
  const other = locked.receiveWaiting(arn, asked)
  await expect(failing).rejects.toBeInstanceOf(SealKeyError)
  await sealing.send(arn, [{ body: 'open' }])
  expect(await other).toMatchObject([{ body: 'open' }])
  locked.close()
})

test('messages of an aborted attempt are there for its repetition', async () => {
  const fifo = newFifoArn()
  await fixture.queues.put(fifo, {})
  await fixture.queues.send(fifo, [{ body: 'a', groupId: 'g', deduplicationId: '1' }])
  const leaving = new AbortController()
  const attempt = { maxMessages: 1, attemptId: 'x' }
  const aborted = waits.receiveWaiting(fifo, { ...attempt, waitSeconds: 20, signal: leaving.signal })
  leaving.abort()
  expect(await aborted).toEqual([])
  await settled()
  expect(await fixture.queues.receive(fifo, attempt)).toMatchObject([{ body: 'a', receiveCount: 1 }])
})

test('waits end with not_found when their queue is deleted', async () => {
  const waiting = wait(20)
  const refused = expect(waiting).rejects.toMatchObject({ code: 'not_found' })
  await settled()
  await fixture.queues.delete(arn)
  await refused
})

test('a lost subscription is taken up again', async () => {
  await fixture.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await waitFor(async () => (await subscribers()) === 0)
  await waitFor(async () => (await subscribers()) === 1)
  const waiting = wait(20)
  await settled()
  await fixture.queues.send(arn, [{ body: 'a' }])
  expect(await waiting).toMatchObject([{ body: 'a' }])
})

test('a message whose wake was lost is found all the same', async () => {
  const waiting = wait(20)
  await settled()
  await subscriber.unsubscribe(WAKE_QUEUES)
  await fixture.queues.send(arn, [{ id: randomUUID(), body: 'a' }])
  expect(await waiting).toMatchObject([{ body: 'a' }])
})

test('close ends every wait', async () => {
  const waiting = [wait(20), wait(20)]
  await settled()
  waits.close()
  expect(await Promise.all(waiting)).toEqual([[], []])
})
