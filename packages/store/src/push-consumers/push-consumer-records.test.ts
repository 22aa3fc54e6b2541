import { isFifoName } from '@fantail/contracts'
import { waitFor, waitingFirst } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { queueKey, WAKE_PUSH_CONSUMERS } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import type { PushConsumerReceive, Received } from '../queues/items/queue-records.ts'
import { newArn, useQueues } from '../queues/queues.fixture.ts'
import { connect, whenReady } from '../redis/connections/connect.ts'
import { PushConsumerRecords, type PushLease } from './push-consumer-records.ts'

const URL = 'http://hook.example/in'
const fixture = await useQueues()
const consumers = new PushConsumerRecords(fixture.redis)
let skewMs = 0
beforeEach(async () => {
  await fixture.redis.flushall()
  skewMs = 0
})

async function later(ms: number): Promise<void> {
  skewMs += ms
  await fixture.skew(skewMs)
}

/** A queue with messages and a consumer. */
async function queueWith(texts: string[], set = {}, arn = newArn()): Promise<string> {
  await fixture.queues.put(arn, {})
  await consumers.put(arn, 'hook', { url: URL, ...set })
  await send(arn, texts)
  return arn
}

async function send(arn: string, texts: string[]): Promise<void> {
  const order = isFifoName(arn) ? { groupId: 'g' } : {}
  await fixture.queues.send(
    arn,
    texts.map((body) => ({ body, ...order, ...(isFifoName(arn) && { deduplicationId: body }) })),
  )
}

/** Receives for a consumer, with its present record or with an older one. */
async function receive(arn: string, given: Partial<PushConsumerReceive> = {}, max = 10): Promise<Received> {
  const revision = (await consumers.get(arn, 'hook'))?.consumer.revision ?? ''
  const consumer = { name: 'hook', revision, batch: 'b1', hideMs: 35_000, ended: [], ...given }
  return fixture.queues.receiveOnce(arn, { maxMessages: max, consumer })
}
const bodies = ({ messages }: Received) => messages.map(({ body }) => body)

test('a consumer is made with defaults, changed member by member, and removed', async () => {
  const arn = await queueWith([])
  expect(await consumers.get(arn, 'hook')).toMatchObject({
    inFlight: 0,
    consumer: {
      name: 'hook',
      queueArn: arn,
      url: URL,
      batchSize: 10,
      batchWindowSeconds: 0,
      concurrency: 1,
      timeoutSeconds: 30,
      enabled: true,
      reportBatchItemFailures: false,
    },
  })
  const { consumer: before } = (await consumers.get(arn, 'hook')) ?? {}
  expect((await consumers.put(arn, 'hook', { batchSize: 3 })).created).toBe(false)
  const after = await consumers.patch(arn, 'hook', { enabled: false })
  expect(after).toMatchObject({ batchSize: 3, enabled: false, url: URL, createdAt: before?.createdAt })
  expect(after.revision).not.toBe(before?.revision)
  for (let i = 0; i < 2; i++) await consumers.delete(arn, 'hook')
  expect(await consumers.of(arn)).toEqual([])
  expect(await consumers.all()).toEqual([])
})

test('invalid consumers are refused', async () => {
  const arn = await queueWith([])
  await expect(consumers.put(arn, 'other', {})).rejects.toMatchObject({ code: 'validation_failed' })
  await expect(consumers.patch(arn, 'other', {})).rejects.toMatchObject({ code: 'not_found' })
  await expect(consumers.put(newArn(), 'hook', { url: URL })).rejects.toMatchObject({ code: 'not_found' })
  await Promise.all(Array.from({ length: 99 }, (_, i) => consumers.put(arn, `hook-${i}`, { url: URL })))
  await expect(consumers.put(arn, 'one-more', { url: URL })).rejects.toMatchObject({ code: 'conflict' })
})

test('two who change a consumer at once both have their way', async () => {
  const arn = await queueWith([])
  await Promise.all([
    consumers.patch(arn, 'hook', { batchSize: 7 }),
    consumers.patch(arn, 'hook', { concurrency: 5 }),
  ])
  expect((await consumers.get(arn, 'hook'))?.consumer).toMatchObject({ batchSize: 7, concurrency: 5 })
})

test('consumers go with their queue, and nothing of them is left', async () => {
  const arn = await queueWith(['a'])
  await receive(arn)
  expect(await consumers.all()).toMatchObject([{ arn, consumers: [{ name: 'hook' }] }])
  await fixture.queues.delete(arn)
  expect(await consumers.of(arn)).toBeNull()
  expect(await consumers.all()).toEqual([])
  expect((await fixture.keys()).filter((key) => !/queue:deleted:|:push-leases:/.test(key))).toEqual([])
  const [leases] = (await fixture.keys()).filter((key) => key.includes(':push-leases:'))
  expect(await fixture.redis.pttl(leases ?? '')).toBeGreaterThan(0)
})

test('a list shows when there is something to receive', async () => {
  const [full, empty] = [await queueWith(['a']), await queueWith([])]
  const told = new Map((await consumers.all()).map((queue) => [queue.arn, queue.nextVisibleInMs]))
  expect([told.get(full), told.get(empty)]).toEqual([0, null])
})

test('a batch takes a lease; while all are taken nothing is received', async () => {
  const arn = await queueWith(['a', 'b', 'c', 'd'], { concurrency: 2 })
  expect(bodies(await receive(arn, { batch: 'b1' }, 1))).toEqual(['a'])
  expect(bodies(await receive(arn, { batch: 'b2' }, 1))).toEqual(['b'])
  const refused = await receive(arn, { batch: 'b3' })
  expect(refused).toMatchObject({ messages: [], refused: 'busy' })
  expect(refused.nextVisibleInMs).toBeGreaterThan(9_000)
  expect((await consumers.get(arn, 'hook'))?.inFlight).toBe(2)
  expect(bodies(await receive(arn, { batch: 'b2' }, 1))).toEqual(['c'])
  expect(bodies(await receive(arn, { batch: 'b3', ended: ['b1'] }))).toEqual(['d'])
})

test('a receive without messages takes no lease', async () => {
  const arn = await queueWith([])
  await receive(arn, { batch: 'b1' })
  await send(arn, ['a'])
  expect(bodies(await receive(arn, { batch: 'b2' }))).toEqual(['a'])
})

test('a lease lasts while it is renewed; a dead worker’s is free after ten seconds', async () => {
  const arn = await queueWith(['a', 'b'])
  await receive(arn, { batch: 'b1' }, 1)
  const lease = { queueArn: arn, consumer: 'hook', batch: 'b1' }
  await later(9_000)
  expect(await consumers.keep([lease], 'renew')).toEqual([true])
  await later(9_000)
  expect((await receive(arn, { batch: 'b2' })).refused).toBe('busy')
  await later(1_001)
  expect(bodies(await receive(arn, { batch: 'b2' }))).toEqual(['b'])
  expect(await consumers.keep([lease], 'renew')).toEqual([false])
  expect((await consumers.get(arn, 'hook'))?.inFlight).toBe(1)
})

test('a lease that is given back is announced', async () => {
  const arn = await queueWith(['a', 'b'])
  const subscriber = connect({ url: fixture.server.url, name: 'subscriber', commandTimeoutMs: null })
  await whenReady(subscriber)
  const heard: string[] = []
  subscriber.on('message', (_, text) => heard.push(text))
  await subscriber.subscribe(WAKE_PUSH_CONSUMERS)
  await receive(arn, { batch: 'b1' }, 1)
  await consumers.keep([{ queueArn: arn, consumer: 'hook', batch: 'b1' }], 'end')
  await waitFor(() => heard.includes(arn))
  subscriber.disconnect()
  expect(bodies(await receive(arn, { batch: 'b2' }))).toEqual(['b'])
})

test('a record that is another by now, disabled or gone, receives nothing', async () => {
  const arn = await queueWith(['a'])
  const { revision = '' } = (await consumers.get(arn, 'hook'))?.consumer ?? {}
  await consumers.patch(arn, 'hook', { enabled: false })
  expect(await receive(arn, { revision })).toMatchObject({ messages: [], refused: 'changed' })
  await consumers.delete(arn, 'hook')
  expect(await receive(arn, { revision })).toMatchObject({ messages: [], refused: 'changed' })
})

test('messages are hidden for as long as the request may take, or for the queue’s own time', async () => {
  const arn = await queueWith(['a'])
  await receive(arn, { hideMs: 35_000 })
  await later(34_500)
  expect(bodies(await receive(arn, { batch: 'b2' }))).toEqual([])
  await later(600)
  expect(bodies(await receive(arn, { batch: 'b2' }))).toEqual(['a'])
  await fixture.queues.patch(arn, { visibilityTimeoutSeconds: 100 })
  await later(36_000)
  await receive(arn, { batch: 'b3' })
  await later(99_000)
  expect(bodies(await receive(arn, { batch: 'b4' }))).toEqual([])
})

test('a batch window ends when the batch is full or its first message has waited for so long', async () => {
  const arn = await queueWith(['a', 'b'], { batchSize: 3, batchWindowSeconds: 5 })
  const early = await receive(arn)
  expect(early).toMatchObject({ messages: [], refused: 'early' })
  expect(early.nextVisibleInMs).toBeGreaterThan(4_000)
  await later(5_001)
  expect(bodies(await receive(arn))).toEqual(['a', 'b'])
  await send(arn, ['c', 'd', 'e'])
  expect(bodies(await receive(arn, { batch: 'b2', ended: ['b1'] }, 3))).toEqual(['c', 'd', 'e'])
})

test('a batch window counts the messages of groups, too', async () => {
  const arn = await queueWith([], { batchSize: 3, batchWindowSeconds: 5 })
  await fixture.queues.send(arn, [{ body: 'a', groupId: 'g' }, { body: 'b' }])
  expect(await receive(arn)).toMatchObject({ messages: [], refused: 'early' })
  await fixture.queues.send(arn, [{ body: 'c', groupId: 'h' }])
  expect(bodies(await receive(arn))).toEqual(['a', 'b', 'c'])
})

test('on a FIFO queue two batches never hold one group', async () => {
  const arn = `${newArn()}.fifo`
  await fixture.queues.put(arn, {})
  await consumers.put(arn, 'hook', { url: URL, concurrency: 5 })
  await send(arn, ['a1', 'a2', 'a3'])
  await fixture.queues.send(arn, [{ body: 'b1', groupId: 'other', deduplicationId: 'x' }])
  expect(bodies(await receive(arn, { batch: 'b1' }, 2))).toEqual(['a1', 'a2'])
  expect(bodies(await receive(arn, { batch: 'b2' }, 2))).toEqual(['b1'])
  expect((await receive(arn, { batch: 'b3' })).messages).toEqual([])
  expect((await consumers.all())[0]?.nextVisibleInMs).toBeGreaterThan(20_000)
})

test('when memory is full, what is there is still pushed, and a consumer can be removed', async () => {
  const arn = await queueWith(['a'])
  await consumers.put(arn, 'other', { url: URL })
  await fixture.redis.config('SET', 'maxmemory', '1')
  try {
    await expect(consumers.put(arn, 'new', { url: URL })).rejects.toThrow(/OOM/)
    expect(bodies(await receive(arn))).toEqual(['a'])
    const lease = { queueArn: arn, consumer: 'hook', batch: 'b1' }
    expect(await consumers.keep([lease], 'renew')).toEqual([true])
    await consumers.delete(arn, 'other')
  } finally {
    await fixture.redis.config('SET', 'maxmemory', '0')
  }
  expect((await consumers.of(arn))?.map(({ consumer }) => consumer.name)).toEqual(['hook'])
})

test('leases of several shards are renewed side by side', async () => {
  const leases: PushLease[] = []
  while (new Set(leases.map(({ queueArn }) => shardOf(queueArn))).size < 2) {
    const queueArn = await queueWith(['x'])
    await receive(queueArn)
    leases.push({ queueArn, consumer: 'hook', batch: 'b1' })
  }
  const waiting = new PushConsumerRecords(waitingFirst(fixture.redis, 'keep-push-leases-1'))
  expect(await waiting.keep(leases, 'renew')).toEqual(leases.map(() => true))
})

/** Another queue's ARN in the same shard. */
function besides(arn: string): string {
  for (;;) {
    const other = newArn()
    if (shardOf(other) === shardOf(arn)) return other
  }
}

test('a queue with damaged data keeps no other from being listed, and no lease from being renewed', async () => {
  const { redis } = fixture
  const broken = await queueWith(['x'])
  const whole = await queueWith(['x'], {}, besides(broken))
  for (const arn of [broken, whole]) await receive(arn)
  const leases = [broken, whole].map((queueArn) => ({ queueArn, consumer: 'hook', batch: 'b1' }))
  const reported: string[] = []
  const reporting = new PushConsumerRecords(redis, { onUnreadable: (_, key) => void reported.push(key) })
  const listed = async () =>
    (await reporting.all()).flatMap(({ consumers: of }) => of.map((one) => one.queueArn))
  const prefix = `${shardBase(shardOf(broken))}q:${(await fixture.queues.get(broken))?.uid}:`
  await redis.hset(`${prefix}push-consumers`, 'hook', '{}')
  expect(await listed()).toEqual([whole])
  await expect(consumers.put(broken, 'hook', { url: URL })).rejects.toThrow('or its record cannot be read')
  for (const key of [`${prefix}push-leases:hook`, `${prefix}push-consumers`, queueKey(broken)]) {
    await redis.del(key)
    await redis.set(key, 'x')
    expect(await listed()).toEqual([whole])
    expect(await consumers.keep(leases, 'renew')).toEqual([false, true])
  }
  expect(reported).toEqual(Array(4).fill(`push consumers of ${broken}`))
})
