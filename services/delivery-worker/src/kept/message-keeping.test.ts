/** Messages in the rings of their topics, after a worker has dispatched them. */
import type { DispatchPart } from '@fantail/jobs'
import { createLogger } from '@fantail/runtime'
import {
  Archives,
  archiveFigures,
  FifoLog,
  KeptMessages,
  type NewKept,
  shardBase,
  shardOf,
} from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test, vi } from 'vitest'
import { wholeJob } from '../dispatch/whole-job.ts'
import { createFakeSender, createMessage, TOPIC, useFixture } from '../fixtures/worker.fixture.ts'
import { MessageContext } from '../messages/message-context.ts'
import { keptForm, MessageKeeping } from './message-keeping.ts'

const fixture = await useFixture()
const kept = new KeptMessages(fixture.redis)
const KEEP = { keepMessages: { seconds: 60, bytes: 1_048_576 } }

/** The texts in the topic's ring, oldest first. null: the topic keeps none. */
async function textsIn(arn = TOPIC): Promise<string[] | null> {
  const page = await kept.page(arn, { before: null, messagesMax: 100 })
  return page?.bodies.map((body) => JSON.parse(String(body)).message).reverse() ?? null
}

const isDone = () => waitFor(async () => (await fixture.redis.keys('ft:{*}:dispatch-0:[0-9]*')).length === 0)

test('a message is kept before its job ends, whether it is delivered, filtered or for nobody', async () => {
  await fixture.topics.patch(TOPIC, KEEP)
  await fixture.startWorker(createFakeSender())
  await fixture.publish('for nobody')
  await isDone()
  await fixture.subscribe('a', { filterPolicy: { color: ['red'] } })
  await fixture.publish('filtered')
  await isDone()
  await fixture.publishAll(['one', 'two'])
  await isDone()
  expect(await textsIn()).toEqual(['for nobody', 'filtered', 'one', 'two'])
})

test('without the setting dispatch sends no command for it', async () => {
  await fixture.subscribe('a')
  const sender = createFakeSender()
  await fixture.startWorker(sender)
  await fixture.publish('not kept')
  await isDone()
  expect([sender.sent.length, await textsIn(), await fixture.redis.keys('*kept*')]).toEqual([1, null, []])
})

test('messages of jobs that follow each other are written together, and a failing topic fails alone', async () => {
  const writes: string[][] = []
  const keep = async (messages: NewKept[]) => {
    writes.push(messages.map(({ uid, body }) => uid + body))
    if (messages[0]?.uid === 'b') throw new Error('away')
  }
  const idle = { refresh: () => undefined, sample: undefined }
  const log = createLogger({ service: 'test', level: 'silent' })
  const upkeep = { check: () => undefined }
  const keeping = new MessageKeeping({
    kept: { keep, keepJobs: async (jobs) => jobs },
    upkeep,
    storageGuard: idle,
    log,
  })
  const message = (uid: string, body: string) => ({ arn: uid, uid, id: Buffer.alloc(16), body })
  await keeping.keep([message('a', '1')])
  const jobs = [[message('a', '2')], [message('a', '3'), message('b', '4')], [message('a', '5')]]
  const ends = await Promise.allSettled(jobs.map((job) => keeping.keep(job)))
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  // Topics are written separately, in any order.
  expect(writes.toSorted()).toEqual([['a1'], ['a2', 'a3', 'a5'], ['b4']])
})

test('a job is copied whole if all its messages are of one ring, and else its messages are kept one by one', async () => {
  const other = TOPIC.replace('orders', 'others')
  await fixture.topics.patch(TOPIC, KEEP)
  await fixture.topics.put(other, {})
  await fixture.startWorker(createFakeSender())
  const texts = (name: string) => Array.from({ length: 20 }, (_, n) => `${name} ${n} ${'x'.repeat(1_000)}`)
  await fixture.publishAll(texts('one'))
  await isDone()
  expect((await fixture.redis.keys('*:kept:job:*')).length).toBe(1)
  expect(await fixture.redis.keys('*:kept:bodies:*')).toEqual([])
  const mixed = [...texts('two').map((text) => createMessage(text, TOPIC)), createMessage('not kept', other)]
  await fixture.publisher.publish(mixed, { bytes: 30_000, fanOut: 1 })
  await isDone()
  expect((await fixture.redis.keys('*:kept:job:*')).length).toBe(1)
  expect(await textsIn()).toEqual([...texts('one'), ...texts('two')])
})

test('a later start or a part of a job never copies it, but asks whether an earlier one did', () => {
  const messages = Array.from(
    { length: 20 },
    () => new MessageContext(createMessage('x'.repeat(1_000), TOPIC)),
  )
  const record = { jobKey: 'ft:{a}:dispatch-0:1', jobName: 'dispatch-0:1:m0f3k2q1', addedAt: 1 }
  const run = { record, part: undefined, fence: 1, hasUnreadable: false, messages }
  const forms = messages.map((context) => keptForm({ arn: TOPIC, uid: 'u' }, context))
  expect(wholeJob(run, forms)).toMatchObject({ copies: true, name: record.jobName, record: record.jobKey })
  expect(wholeJob({ ...run, fence: 2 }, forms.slice(1))).toMatchObject({ copies: false })
  expect(wholeJob(run, forms.slice(1))).toBeUndefined()
  expect(wholeJob({ ...run, hasUnreadable: true }, forms)).toBeUndefined()
  expect(wholeJob({ ...run, record: undefined }, forms)).toBeUndefined()
  const part = { messages: [0, 19], slices: [0, null] } satisfies DispatchPart
  expect(wholeJob({ ...run, part }, forms.slice(1))).toMatchObject({ copies: false, name: record.jobName })
})

test('a job that the script cannot keep is kept one by one, and so are the messages beside it', async () => {
  const writes: string[] = []
  const log = createLogger({ service: 'test', level: 'silent' })
  const [warned, informed] = [vi.spyOn(log, 'warn'), vi.spyOn(log, 'info')]
  const keeping = new MessageKeeping({
    kept: {
      keep: async (messages) => void writes.push(...messages.map(({ body }) => body)),
      keepJobs: () => Promise.reject(new Error('WRONGTYPE of a key script: 1, on @user_script:9.')),
    },
    upkeep: { check: () => undefined },
    storageGuard: { refresh: () => undefined, sample: undefined },
    log,
  })
  const message = (body: string) => ({ arn: 'a', uid: 'a', id: Buffer.alloc(16), body })
  const place = { record: 'r', name: 'n', addedAt: 1, copies: true }
  const job = { arn: 'a', uid: 'a', ...place, messages: [message('2'), message('3')] }
  await Promise.all([keeping.keep([message('1')]), keeping.keep(job.messages, job)])
  expect(writes).toEqual(['1', '2', '3'])
  expect(warned.mock.calls.map(([, text]) => text)).toEqual(['kept_messages.down'])
  expect(informed).not.toHaveBeenCalled()
})

test('a FIFO topic keeps its messages in the order of its log', async () => {
  const arn = `${TOPIC}.fifo`
  await fixture.topics.put(arn, KEEP)
  await fixture.startWorker(createFakeSender())
  const log = new FifoLog(fixture.redis)
  const texts = Array.from({ length: 20 }, (_, n) => String(n))
  await log.publish(
    arn,
    texts.map((text) => ({ ...createMessage(text, arn), groupId: 'g', deduplicationId: text })),
  )
  await waitFor(async () => (await textsIn(arn))?.length === 20)
  expect(await textsIn(arn)).toEqual(texts)
})

test('while memory is short nothing is kept, and messages are delivered all the same', async () => {
  await fixture.topics.patch(TOPIC, KEEP)
  await fixture.subscribe('a')
  const sender = createFakeSender()
  await fixture.startWorker(sender, { redisMemoryBytes: 100_000 })
  await fixture.publish('too much')
  await waitFor(() => sender.sent.length === 1)
  await isDone()
  expect(await textsIn()).toEqual([])
})

test('while memory is short an archive gets its messages all the same, before their job ends', async () => {
  await fixture.topics.patch(TOPIC, { archive: { days: 1 } })
  await fixture.subscribe('a')
  const sender = createFakeSender()
  await fixture.startWorker(sender, { redisMemoryBytes: 100_000 })
  await fixture.publish('archived')
  await isDone()
  expect(await textsIn()).toEqual(['archived'])
})

test('a job of an archive waits for memory and for a ring that is damaged, and other jobs do not', async () => {
  const log = createLogger({ service: 'test', level: 'silent' })
  for (const refusal of [
    'OOM command not allowed when used memory > maxmemory',
    'WRONGTYPE of a key script: 1, on @user_script:9.',
  ]) {
    const keeping = new MessageKeeping({
      kept: { keep: () => Promise.reject(new Error(refusal)), keepJobs: async (jobs) => jobs },
      upkeep: { check: () => undefined },
      storageGuard: { refresh: () => undefined, sample: undefined },
      log,
    })
    const message = { arn: 'a', id: Buffer.alloc(16), body: '1' }
    await expect(keeping.keep([{ ...message, uid: 'a', isArchived: true }])).rejects.toThrow(refusal)
    await keeping.keep([{ ...message, uid: 'b', isArchived: false }])
  }
})

test('a job whose archive cannot be written is delivered and stays, and other jobs end', async () => {
  const other = TOPIC.replace('orders', 'others')
  await fixture.topics.patch(TOPIC, { archive: { days: 1 } })
  await fixture.topics.put(other, {})
  await fixture.subscribe('a')
  const damaged = `${shardBase(shardOf(TOPIC))}kept`
  await fixture.redis.set(damaged, 'of another kind')
  const sender = createFakeSender()
  await fixture.startWorker(sender)
  await fixture.publish('archived')
  const jobs = async (list: string) => fixture.redis.keys(`ft:{*}:dispatch-0:${list}`)
  await waitFor(async () => (await jobs('delayed')).length === 1)
  expect(sender.sent.length).toBe(1)
  await fixture.publisher.publish([createMessage('other', other)], { bytes: 100, fanOut: 1 })
  await waitFor(async () => (await jobs('[0-9]*')).length === 1)
  await fixture.redis.del(damaged)
})

test('a job that starts again archives no message twice, also if a block has taken it from the ring', async () => {
  const other = TOPIC.replace('orders', 'others')
  await fixture.topics.patch(TOPIC, { archive: { days: 1 } })
  const { topic } = await fixture.topics.put(other, { archive: { days: 1 } })
  await fixture.subscribe('a', { topicArn: other })
  const damaged = `${shardBase(shardOf(TOPIC))}kept:order:${(await fixture.topics.get(TOPIC))?.uid}`
  await fixture.redis.set(damaged, 'of another kind')
  const sender = createFakeSender()
  const blocks = new Archives(fixture.redis, {
    put: async () => {},
    get: async () => null,
    remove: async () => {},
  })
  const archived: number[] = []
  await fixture.publisher.publish([createMessage('one', TOPIC), createMessage('two', other)], {
    bytes: 300,
    fanOut: 1,
  })
  const delayed = 'ft:{dispatch-0}:dispatch-0:delayed'
  for (const mends of [false, false, true]) {
    // The wait of a minute is over.
    for (const job of await fixture.redis.zrange(delayed, '0', '-1'))
      await fixture.redis.zadd(delayed, 0, job)
    if (mends) await fixture.redis.del(damaged)
    const worker = await fixture.startWorker(sender)
    if (mends) await isDone()
    else
      await waitFor(async () => Number((await fixture.redis.zrange(delayed, '0', '0', 'WITHSCORES'))[1]) > 0)
    await worker.stop()
    archived.push(await blocks.writeBlock(topic, { ageMs: 0 }))
  }
  expect([archived, sender.sent.length, await textsIn()]).toEqual([[1, 0, 0], 1, ['one']])
})

test('an archive that may lose messages gets them while memory is short', async () => {
  await fixture.topics.patch(TOPIC, { archive: { days: 1, whenFull: 'dropOldest' } })
  await fixture.startWorker(createFakeSender(), { redisMemoryBytes: 100_000 })
  await fixture.publish('archived')
  await isDone()
  const uid = (await fixture.topics.get(TOPIC))?.uid ?? ''
  // The upkeep may have dropped it since then, and has counted it.
  await waitFor(async () => {
    const texts = (await textsIn()) ?? []
    return texts.length + ((await archiveFigures(fixture.redis, { arn: TOPIC, uid }))?.dropped ?? 0) === 1
  })
})
