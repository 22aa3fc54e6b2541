/** Leases of queues. The clocks of the shards are set ahead in place of waiting. */
import { topicArn } from '@fantail/contracts'
import { RANDOM_TIMEOUT_MS, randomRuns, skewKey, watchCommands } from '@fantail/test-kit'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { leasedQueuesKey, leasedTopicsKey } from '../../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../../keys/shards.ts'
import { NUMBER } from '../../scripts/lua-numbers.ts'
import { newSubscription } from '../../subscriptions/subscriptions.fixture.ts'
import { Subscriptions } from '../../subscriptions/subscriptions.ts'
import { Topics } from '../../topics/topics.ts'
import { newArn, useQueues } from '../queues.fixture.ts'
import { Queues } from '../queues.ts'
import { SERVICE_NOTE_MS } from './queue-leases.ts'

const LEASE_SECONDS = 60
const PAST_LEASE_MS = 61_000
const fixture = await useQueues()
const { queues, redis } = fixture
const subscriptions = new Subscriptions(redis)
afterEach(() => fixture.skew(0))

const ended: [string, number][] = []
const sweeping = new Queues(redis, { onLeaseEnd: (arn, messages) => void ended.push([arn, messages]) })

const leased = (arn: string) => queues.create(arn, { leaseSeconds: LEASE_SECONDS })

/** A topic with a subscription to the queue. */
async function subscribed(arn: string, name: string): Promise<string> {
  const topic = topicArn(name)
  await new Topics(redis).put(topic, {})
  await queues.noteLeasedTopic(arn, topic)
  const given = { ...newSubscription(topic, name), protocol: 'sqs' as const, endpoint: arn }
  return (await subscriptions.create(given)).subscription.id
}

/** When an API last served its shard. */
const servedKey = (arn: string) => `${shardBase(shardOf(arn))}queues:leased:at`

/** The end of its lease, and whether it has topics. */
const leaseOf = async (arn: string) => [
  await queues.leaseEndsAt(arn),
  await redis.exists(leasedTopicsKey(arn)),
]
const NO_LEASE = [null, 0]

test('a queue that nobody receives from is deleted with the subscriptions to it, and its messages are counted', async () => {
  const arn = newArn('leased')
  await leased(arn)
  const id = await subscribed(arn, 'lease-orders')
  await queues.send(arn, [{ body: 'waits' }, { body: 'is received' }])
  await queues.receive(arn, { maxMessages: 1 })
  await queues.sweep()
  expect(await queues.get(arn)).not.toBeNull()
  expect(ended).toEqual([])
  await fixture.skew(PAST_LEASE_MS)
  await sweeping.sweep()
  expect(ended).toEqual([[arn, 2]])
  expect([await queues.get(arn), await subscriptions.get(id)]).toEqual([null, null])
  expect(await leaseOf(arn)).toEqual(NO_LEASE)
})

test('a renewed lease goes on, and one that has ended is deleted', async () => {
  const arn = newArn('renewed')
  const { queue } = await leased(arn)
  await fixture.skew(PAST_LEASE_MS - 10_000)
  await queues.renewLease(queue)
  await fixture.skew(PAST_LEASE_MS)
  await queues.sweep()
  expect(await queues.get(arn)).not.toBeNull()
  await fixture.skew(2 * PAST_LEASE_MS)
  await queues.sweep()
  expect(await queues.get(arn)).toBeNull()
})

test('a lease that is over is renewed by a receive until the sweep deletes the queue', async () => {
  const arn = newArn('over')
  const { queue } = await leased(arn)
  await fixture.skew(PAST_LEASE_MS)
  await queues.renewLease(queue)
  await queues.sweep()
  expect(await queues.get(arn)).not.toBeNull()
  await redis.zadd(leasedQueuesKey(shardBase(shardOf(arn))), 0, arn)
  await expect(queues.renewLease(queue)).rejects.toMatchObject({ code: 'not_found' })
  await queues.sweep()
  expect([await queues.get(arn), ...(await leaseOf(arn))]).toEqual([null, ...NO_LEASE])
})

test('the first lease of a shard that had none for a day is not extended', async () => {
  const arn = newArn('first')
  await redis.del(leasedQueuesKey(shardBase(shardOf(arn))))
  await redis.set(servedKey(arn), Date.now() - 86_400_000)
  await leased(arn)
  const ends = await queues.leaseEndsAt(arn)
  await queues.noteService()
  expect(await queues.leaseEndsAt(arn)).toBe(ends)
})

test('an idle API looks for leases in every shard within six notes', async () => {
  const idle = new Queues(redis)
  await idle.noteService()
  const arn = newArn('found')
  await leased(arn)
  await redis.del(servedKey(arn))
  const seen = await watchCommands(redis)
  for (let n = 0; n < 6; n++) await idle.noteService()
  expect(Number(await redis.get(servedKey(arn)))).toBeGreaterThan(0)
  const looks = (await seen()).filter(({ words }) => words[0] === 'exists')
  expect(looks.length).toBe(SHARD_COUNT)
})

test('a lease that is granted while an API looks for leases is noted from then on', async () => {
  const granted = Promise.withResolvers<void>()
  const idle = new Queues(answeringLate(granted.promise))
  const note = idle.noteService()
  // The second note looks in the second sixth.
  const arn = arnOutside(SHARD_COUNT / 6, SHARD_COUNT / 3)
  await idle.create(arn, { leaseSeconds: LEASE_SECONDS })
  granted.resolve()
  await note
  await redis.del(servedKey(arn))
  await idle.noteService()
  expect(Number(await redis.get(servedKey(arn)))).toBeGreaterThan(0)
})

function arnOutside(from: number, to: number): string {
  for (;;) {
    const arn = newArn('granted')
    if (shardOf(arn) < from || shardOf(arn) >= to) return arn
  }
}

/** A client whose first pipeline is answered after this. */
function answeringLate(after: Promise<void>): typeof redis {
  let isFirst = true
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'pipeline' || !isFirst) return value.bind(target)
      isFirst = false
      const pipeline = target.pipeline()
      const exec = pipeline.exec.bind(pipeline)
      pipeline.exec = async () => {
        const found = await exec()
        await after
        return found
      }
      return () => pipeline
    },
  })
}

/** Time passes for the queue's lease, and none of it is noted as served. */
async function pass(arn: string, ms: number): Promise<void> {
  const base = shardBase(shardOf(arn))
  await redis.multi().incrby(skewKey(base), ms).decrby(servedKey(arn), ms).exec()
}

async function serve(arn: string, notes: number): Promise<void> {
  for (let n = 0; n < notes; n++) {
    await pass(arn, SERVICE_NOTE_MS)
    await queues.noteService()
  }
}

test('a lease of a minute ends neither in outages nor right after them, nor at a step of the clock', async () => {
  const arn = newArn('away')
  const { queue } = await leased(arn)
  await queues.send(arn, [{ body: 'waits' }])
  await serve(arn, 4)
  await pass(arn, PAST_LEASE_MS)
  await queues.sweep()
  await queues.put(arn, { leaseSeconds: LEASE_SECONDS })
  await queues.renewLease(queue)
  await pass(arn, 90_000)
  await queues.noteService()
  await queues.sweep()
  expect(await queues.getWithCounts(arn)).toMatchObject({
    queue: { uid: queue.uid },
    counts: { visible: 1 },
  })
  await serve(arn, 7)
  await queues.sweep()
  expect(await queues.get(arn)).toBeNull()
})

/** Six notes and a half. */
const MODEL_LEASE = { leaseSeconds: 65 }
const STEPS = ['serve', 'renew', 'put', 'sweep', 'outage'] as const

test('a queue is deleted after a full lease of service, whatever outages come between', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  const step = fc.record({ what: fc.constantFrom(...STEPS), notes: fc.nat(4), awayMs: fc.nat(600_000) })
  const history = fc.array(step, { minLength: 20, maxLength: 40 })
  const play = async (steps: { what: (typeof STEPS)[number]; notes: number; awayMs: number }[]) => {
    const arn = newArn('served')
    let { queue } = await queues.put(arn, MODEL_LEASE)
    /** Since the lease was renewed. */
    let served = 0
    let isAway = false
    for (const { what, notes, awayMs } of steps) {
      const isOver = served > 6
      if (what === 'outage') await pass(arn, NUMBER.UNSERVED_MAX_MS + 1_000 + awayMs)
      if (what === 'serve') await serve(arn, notes)
      // The time before the first note after an outage does not count.
      if (what === 'serve') served += isAway ? Math.max(0, notes - 1) : notes
      if (what === 'renew') await queues.renewLease(queue)
      if (what === 'sweep') await queues.sweep()
      const isDeleted = what === 'sweep' && isOver && !isAway
      if (what === 'sweep') expect((await queues.get(arn)) === null).toBe(isDeleted)
      if (what === 'put' || isDeleted) {
        const made = await queues.put(arn, MODEL_LEASE)
        expect(made.created).toBe(isOver)
        queue = made.queue
      }
      if (what === 'renew' || what === 'put' || isDeleted) served = 0
      isAway = what === 'outage' || (isAway && (what === 'sweep' || (what === 'serve' && notes === 0)))
    }
  }
  await fc.assert(fc.asyncProperty(history, play), { numRuns: randomRuns(10, 0.001) })
})

test('a queue whose lease has ended is made again by a PUT, without its messages', async () => {
  const arn = newArn('again')
  const { queue } = await leased(arn)
  const id = await subscribed(arn, 'lease-again')
  await queues.send(arn, [{ body: 'old' }])
  await fixture.skew(PAST_LEASE_MS)
  const made = await queues.put(arn, { leaseSeconds: LEASE_SECONDS })
  expect([made.created, made.queue.uid === queue.uid]).toEqual([true, false])
  await queues.sweep()
  expect(await queues.getWithCounts(arn)).toMatchObject({ counts: { visible: 0 } })
  expect(await subscriptions.get(id)).toBeNull()
})

test('a sweep that is late does not delete the queue that was made again', async () => {
  const arn = newArn('late')
  const { queue } = await leased(arn)
  await fixture.skew(PAST_LEASE_MS)
  await queues.delete(arn)
  await leased(arn)
  await queues.delete(arn, { uid: queue.uid })
  await queues.sweep()
  expect(await queues.get(arn)).not.toBeNull()
})

test('a queue that has lost its lease stays, and so do the subscriptions to it', async () => {
  const arn = newArn('kept')
  await leased(arn)
  const id = await subscribed(arn, 'lease-kept')
  await queues.patch(arn, { leaseSeconds: null })
  await fixture.skew(PAST_LEASE_MS)
  await queues.sweep()
  expect([await queues.get(arn), await subscriptions.get(id)]).not.toContain(null)
  expect(await leaseOf(arn)).toEqual(NO_LEASE)
})

test('deleting a leased queue deletes the subscriptions to it', async () => {
  const arn = newArn('deleted')
  await leased(arn)
  const id = await subscribed(arn, 'lease-deleted')
  await queues.delete(arn)
  expect(await subscriptions.get(id)).toBeNull()
  expect(await leaseOf(arn)).toEqual(NO_LEASE)
})

test('a crash before the queue was written leaves a lease that the sweep ends', async () => {
  const arn = newArn('crashed')
  await leased(arn)
  await subscribed(arn, 'lease-crashed')
  const [key = ''] = (await redis.keys(`*queue:${arn}`)) as string[]
  await redis.del(key)
  await fixture.skew(PAST_LEASE_MS)
  await queues.sweep()
  expect(await leaseOf(arn)).toEqual(NO_LEASE)
})

test('a leased queue takes subscriptions of a bounded number of topics', async () => {
  const arn = newArn('many')
  await leased(arn)
  for (let n = 0; n < 100; n++) await queues.noteLeasedTopic(arn, topicArn(`many-${n}`))
  await queues.noteLeasedTopic(arn, topicArn('many-0'))
  const tooMany = queues.noteLeasedTopic(arn, topicArn('many-100'))
  await expect(tooMany).rejects.toMatchObject({ code: 'validation_failed' })
})
