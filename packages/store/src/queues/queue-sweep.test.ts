/** The sweep of all queues, beside data that cannot be read. */
import { waitingFirst } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { deletedQueuesKey, queueKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { Quarantine } from '../quarantine/quarantine.ts'
import { UnreadableRecords } from '../quarantine/unreadable-records.ts'
import { newArn, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const fixture = await useQueues()
const { redis } = fixture
const quarantine = new Quarantine(redis)
const unreadable = new UnreadableRecords(quarantine)
const queues = new Queues(redis, { onUnreadable: unreadable.report })

beforeEach(() => redis.flushall())

const DAMAGE: Record<string, (arn: string, uid: string) => Promise<unknown>> = {
  'a record that is cut': async (arn) => {
    const record = (await redis.hget(queueKey(arn), 'record')) ?? ''
    return redis.hset(queueKey(arn), 'record', record.slice(0, record.length / 2))
  },
  'a retention that is no number': (arn) => redis.hset(queueKey(arn), 'r', 'x0000'),
  'items of the wrong type': (arn, uid) => redis.set(`${shardBase(shardOf(arn))}q:${uid}:age`, 'x'),
}

test.each(Object.keys(DAMAGE))('a queue with %s stops no other queue in a sweep', async (name) => {
  const [bad, good, leased, deleted] = [newArn('a'), newArn('b'), newArn('c'), newArn('d')]
  await queues.put(bad, name.includes('record') ? { leaseSeconds: 60 } : {})
  await queues.put(leased, { leaseSeconds: 60 })
  for (const arn of [good, deleted]) await queues.put(arn, { retentionSeconds: 60 })
  await queues.send(good, [{ body: 'old' }])
  await queues.send(deleted, [{ body: 'left' }])
  const { uid = '' } = (await queues.get(deleted)) ?? {}
  await redis.sadd(deletedQueuesKey(shardBase(shardOf(deleted))), uid)
  await DAMAGE[name]?.(bad, (await queues.get(bad))?.uid ?? '')
  await fixture.skew(61_000)
  expect(await queues.sweep()).toBe(1)
  expect(await queues.get(leased)).toBeNull()
  expect(await redis.scard(deletedQueuesKey(shardBase(shardOf(deleted))))).toBe(0)
  await unreadable.sweep()
  const listed = (await quarantine.list({ limit: 10 })).items
  expect(listed.map(({ id }) => id)).toEqual([`record.${queueKey(bad)}`])
  expect(listed[0]?.detail).toContain(bad)
  await redis.del(queueKey(bad))
  await queues.sweep()
  await unreadable.sweep()
  expect((await quarantine.list({ limit: 10 })).items).toEqual([])
})

test('idle queues cost a sweep few scripts, whatever their number', async () => {
  const arns = Array.from({ length: 300 }, () => newArn('idle'))
  for (const arn of arns) await queues.put(arn, {})
  await redis.config('RESETSTAT')
  await queues.sweep()
  const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1])
  expect(calls).toBeLessThan(100)
})

/** Two new queues in different shards. */
function apart(): [string, string] {
  const first = newArn('apart')
  for (;;) {
    const second = newArn('apart')
    if (shardOf(second) !== shardOf(first)) return [first, second]
  }
}

test('a sweep waits for several shards side by side: messages, leases, and deletions', async () => {
  const [old, leased, deleted] = [apart(), apart(), apart()]
  for (const arn of [...old, ...deleted]) {
    await queues.put(arn, { retentionSeconds: 60 })
    await queues.send(arn, [{ body: 'old' }])
  }
  for (const arn of leased) await queues.put(arn, { leaseSeconds: 60 })
  for (const arn of deleted) {
    await redis.sadd(deletedQueuesKey(shardBase(shardOf(arn))), (await queues.get(arn))?.uid ?? '')
    await redis.del(queueKey(arn))
  }
  await fixture.skew(61_000)
  const scripts = ['sweep-queue-1', 'end-queue-lease-1', 'drop-queue-1']
  const waiting = scripts.reduce(waitingFirst, redis)
  expect(await new Queues(waiting).sweep()).toBe(2)
  for (const arn of leased) expect(await queues.get(arn)).toBeNull()
  for (const arn of deleted) expect(await redis.exists(deletedQueuesKey(shardBase(shardOf(arn))))).toBe(0)
})

test('notes of service wait for several shards side by side', async () => {
  for (const arn of apart()) await queues.put(arn, { leaseSeconds: 60 })
  await new Queues(waitingFirst(redis, 'note-service-1')).noteService()
})
