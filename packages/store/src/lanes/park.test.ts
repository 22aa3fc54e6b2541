import { freshKey, leaseKey, stateKey, waitFor } from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { checkpointKey, countsKey, messageKey, WAKE_LANES } from '../keys/keys.ts'
import { ReplicaAcks } from '../redis/replica-acks.ts'
import {
  BASE,
  claimsOf,
  deleteLane,
  keysLeft,
  makeMessage,
  parkAll,
  referencesTo,
  SHARD,
  takeFrom,
  writeLane,
} from './lane.fixture.ts'
import { useLanes } from './lanes.fixture.ts'
import { Lanes } from './lanes.ts'
import { batchField, type ParkEntry, type Settlement } from './records/lane-records.ts'

const { server, redis, lanes } = await useLanes()

const RETRY = { as: 'retry', delayMs: 60_000, state: retryState(1) } as const

function retryState(attempts: number) {
  return { kind: 'retry', attempts, statusCode: 503, error: null } as const
}

test('a body is stored once for all the lanes it waits in', async () => {
  const ids = [await writeLane(redis), await writeLane(redis)]
  const message = makeMessage()
  const { outcomes } = await parkAll(lanes, ids, [message])
  expect(outcomes).toEqual(['parked', 'parked'])
  expect(await referencesTo(redis, message)).toBe(2)
  const [body] = await lanes.bodies(SHARD, [message.id])
  expect(body?.toString()).toBe(message.body)
})

test('a batch whose reply was lost is not parked again, whatever happened to it meanwhile', async () => {
  const [id, gone] = [await writeLane(redis), await writeLane(redis)]
  await deleteLane(redis, gone)
  const message = makeMessage()
  const entry = (subscriptionId: string): ParkEntry => ({
    subscriptionId,
    delivery: message.id,
    message: 0,
    park: { as: 'fresh' },
  })
  const batch = (name: string, fence: number) => ({
    messages: [message],
    jobs: [{ jobName: 'j', fence, fields: [batchField(name)], entries: [entry(id), entry(gone)] }],
  })
  await lanes.park(SHARD, batch('1.1', 1))
  const [claim] = claimsOf(await takeFrom(lanes))
  const { subscriptionId, delivery, lease } = { subscriptionId: id, ...claim } as Settlement
  await lanes.settle(SHARD, [{ subscriptionId, delivery, lease, to: { op: 'delivered' } }])
  const { jobs } = await lanes.park(SHARD, batch('1.1', 1))
  expect(jobs).toMatchObject([{ outcomes: ['present', 'present'] }])
  expect(await redis.hget(countsKey(BASE), 'discarded:unsubscribed')).toBe('1')
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  expect((await lanes.park(SHARD, batch('1.2', 1))).jobs).toMatchObject([
    { outcomes: ['parked', 'unsubscribed'] },
  ])
})

test('unreadable data of a lane fails its own entries, and the checkpoint of their job is not written', async () => {
  const [good, bad] = [await writeLane(redis), await writeLane(redis)]
  await redis.set(stateKey(BASE, bad), 'unreadable')
  const [message, other] = [makeMessage(), makeMessage()]
  const entry = (subscriptionId: string, index: number): ParkEntry => ({
    ...{ subscriptionId, delivery: [message, other][index]?.id ?? message.id, message: index, park: RETRY },
  })
  const jobs = [
    { jobName: 'fails', fence: 1, fields: [batchField('7.1')], entries: [entry(bad, 0), entry(good, 0)] },
    { jobName: 'works', fence: 1, fields: [batchField('7.1')], entries: [entry(good, 1)] },
  ]
  const parked = await lanes.park(SHARD, { messages: [message, other], jobs })
  const failure = { error: expect.stringContaining('WRONGTYPE') }
  expect(parked.jobs).toMatchObject([{ outcomes: [failure, 'parked'] }, { outcomes: ['parked'] }])
  expect(await redis.exists(checkpointKey(BASE, 'fails'))).toBe(0)
  expect(await redis.exists(checkpointKey(BASE, 'works'))).toBe(1)
  expect([await referencesTo(redis, message), await referencesTo(redis, other)]).toEqual([1, 1])
  const unnamed = [{ jobName: '', fence: 0, fields: [], entries: [entry(bad, 0)] }]
  await expect(lanes.park(SHARD, { messages: [message], jobs: unnamed })).rejects.toThrow('WRONGTYPE')
  await redis.del(stateKey(BASE, bad))
})

test('an unreadable message fails its own deliveries, and no lane has a delivery without a body', async () => {
  const [id, other] = [await writeLane(redis), await writeLane(redis)]
  const [bad, good] = [makeMessage(), makeMessage()]
  await redis.set(messageKey(BASE, bad.id), 'unreadable')
  const entry = (subscriptionId: string, message: number): ParkEntry => ({
    ...{ subscriptionId, delivery: [bad, good][message]?.id ?? bad.id, message, park: { as: 'fresh' } },
  })
  const entries = [entry(id, 1), entry(id, 0), entry(other, 0), entry(other, 1)]
  const jobs = [{ jobName: 'j', fence: 1, fields: [batchField('8.1')], entries }]
  const parked = await lanes.park(SHARD, { messages: [bad, good], jobs })
  const failure = { error: expect.stringContaining('WRONGTYPE') }
  expect(parked.jobs).toMatchObject([{ outcomes: ['parked', failure, failure, 'parked'] }])
  expect(await referencesTo(redis, good)).toBe(2)
  const claims = claimsOf(await takeFrom(lanes))
  expect(claims.map(({ delivery }) => delivery)).toEqual([good.id, good.id])
  const [unreadable, body] = await lanes.bodies(SHARD, [bad.id, good.id])
  expect([String(unreadable).slice(0, 9), String(body)]).toEqual(['WRONGTYPE', good.body])
  await redis.del(messageKey(BASE, bad.id))
})

test('an unreadable checkpoint shuts its run out, and the next start deletes it', async () => {
  const id = await writeLane(redis)
  const message = makeMessage()
  await redis.set(checkpointKey(BASE, 'c'), 'unreadable')
  const entries: ParkEntry[] = [
    { subscriptionId: id, delivery: message.id, message: 0, park: { as: 'fresh' } },
  ]
  const request = (fence: number) => ({
    messages: [message],
    jobs: [{ jobName: 'c', fence, fields: [batchField('9.1')], entries }],
  })
  expect((await lanes.park(SHARD, request(1))).jobs).toEqual([{ stale: true }])
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  const opened = await lanes.openCheckpoint(SHARD, 'c', 2)
  expect(opened).toEqual({ stale: false, begun: 0, unreadable: true, fields: new Map() })
  expect((await lanes.park(SHARD, request(2))).jobs).toMatchObject([{ outcomes: ['parked'] }])
})

test('a lane with unreadable data is passed over by takes and sweeps, and others are taken', async () => {
  const [good, bad] = [await writeLane(redis), await writeLane(redis)]
  const message = makeMessage()
  await parkAll(lanes, [bad, good], [message])
  await redis.del(leaseKey(BASE, bad))
  await redis.set(leaseKey(BASE, bad), 'unreadable')
  const unreadable = [{ name: bad, error: expect.stringContaining('WRONGTYPE') }]
  const taken = await takeFrom(lanes)
  expect(taken.unreadable).toEqual(unreadable)
  expect(taken.lanes.map(({ subscriptionId }) => subscriptionId)).toEqual([good])
  expect((await takeFrom(lanes)).unreadable).toEqual([])
  const swept = { unreadable: [] as unknown[] }
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const step = await lanes.sweep(SHARD, { cursor, deliveriesMax: 10, leaseMs: 1_000 })
    swept.unreadable.push(...step.unreadable)
    cursor = step.cursor
  }
  expect(swept).toEqual({ unreadable })
  await redis.del(leaseKey(BASE, bad))
})

test('a delivery that waits or is in flight is parked no second time', async () => {
  const id = await writeLane(redis)
  const [waiting, retrying, flying] = [makeMessage(), makeMessage(), makeMessage()]
  await parkAll(lanes, [id], [flying])
  expect(claimsOf(await takeFrom(lanes))).toHaveLength(1)
  await parkAll(lanes, [id], [waiting])
  await parkAll(lanes, [id], [retrying], RETRY)
  const { outcomes } = await parkAll(lanes, [id], [waiting, retrying, flying])
  expect(outcomes).toEqual(['present', 'present', 'present'])
  expect(await Promise.all([waiting, retrying, flying].map((m) => referencesTo(redis, m)))).toEqual([1, 1, 1])
})

test('a message without a delivery is not stored', async () => {
  const unused = makeMessage()
  const { outcomes } = await parkAll(lanes, ['no-such-lane'], [unused])
  expect(outcomes).toEqual(['unsubscribed'])
  expect(await keysLeft(redis)).toEqual([])
  expect(await redis.hgetall(countsKey(BASE))).toEqual({ 'discarded:unsubscribed': '1' })
})

test('a deleted lane accepts nothing more', async () => {
  const id = await writeLane(redis)
  await deleteLane(redis, id)
  expect((await parkAll(lanes, [id], [makeMessage()])).outcomes).toEqual(['unsubscribed'])
})

test('a job with a lower fence than the stored one changes nothing, others in the same call go on', async () => {
  const id = await writeLane(redis)
  const [first, second] = [makeMessage(), makeMessage()]
  expect(await lanes.openCheckpoint(SHARD, 'a', 3)).toEqual({ stale: false, begun: 0, fields: new Map() })
  const jobOf = (jobName: string, fence: number, message: number) => ({
    jobName,
    fence,
    fields: [[`0.${jobName}`, Buffer.from([0xff, 0x00])]] as [string, Buffer][],
    entries: [
      { subscriptionId: id, delivery: [first, second][message]?.id, message, park: { as: 'fresh' } },
    ] as ParkEntry[],
  })
  const { jobs } = await lanes.park(SHARD, {
    messages: [first, second],
    jobs: [jobOf('a', 2, 0), jobOf('b', 1, 1)],
  })
  expect(jobs).toEqual([{ stale: true }, { stale: false, outcomes: ['parked'], leases: [null] }])
  expect(await redis.zrangeBuffer(freshKey(BASE, id), '0', '-1')).toEqual([second.id])
  expect(await redis.hgetall(checkpointKey(BASE, 'a'))).toEqual({ f: '3' })
})

test('a later run reads what the one before settled, and shuts it out', async () => {
  const bits = Buffer.from([0b1010_0000])
  await lanes.park(SHARD, {
    messages: [],
    jobs: [{ jobName: 'j', fence: 1, fields: [['0.s', bits]], entries: [] }],
  })
  expect(await redis.pttl(checkpointKey(BASE, 'j'))).toBeGreaterThan(80_000_000)
  expect(await lanes.openCheckpoint(SHARD, 'j', 2)).toEqual({
    stale: false,
    begun: 0,
    fields: new Map([['0.s', bits]]),
  })
  expect(await lanes.openCheckpoint(SHARD, 'j', 4)).toMatchObject({ begun: 2 })
  expect(await lanes.openCheckpoint(SHARD, 'j', 1)).toEqual({ stale: true, begun: 0, fields: new Map() })
  await lanes.deleteCheckpoints(SHARD, ['j', 'absent'])
  expect(await keysLeft(redis)).toEqual([])
})

test('replicas hold an earlier start’s checkpoint before a later one relies on it', async () => {
  const asked: string[] = []
  const acks = new ReplicaAcks(redis, { minReplicas: 1 })
  acks.confirm = async (key) => void asked.push(key)
  const replicated = new Lanes(redis, acks)
  expect((await replicated.openCheckpoint(SHARD, 'first', 1)).fields.size).toBe(0)
  expect(asked).toEqual([])
  const fields: [string, Buffer][] = [['0.slice', Buffer.of(1)]]
  await lanes.park(SHARD, { messages: [], jobs: [{ jobName: 'first', fence: 1, fields, entries: [] }] })
  expect((await replicated.openCheckpoint(SHARD, 'first', 2)).fields.size).toBe(1)
  expect(asked).toEqual([BASE])
})

test('a fence that is kept shuts earlier runs out after the job has ended', async () => {
  const id = await writeLane(redis)
  const message = makeMessage()
  await lanes.openCheckpoint(SHARD, 'j', 2)
  await lanes.keepFence(SHARD, 'j', 2)
  expect(await redis.hgetall(checkpointKey(BASE, 'j'))).toEqual({ f: '2' })
  expect(await redis.pttl(checkpointKey(BASE, 'j'))).toBeGreaterThan(80_000_000)
  const entries = [{ subscriptionId: id, delivery: message.id, message: 0, park: { as: 'fresh' as const } }]
  const late = { messages: [message], jobs: [{ jobName: 'j', fence: 1, fields: [], entries }] }
  expect((await lanes.park(SHARD, late)).jobs).toEqual([{ stale: true }])
})

test('an attempt still running is parked in flight and settled with the lease of the park', async () => {
  const id = await writeLane(redis)
  const message = makeMessage()
  const { leases } = await parkAll(lanes, [id], [message], { as: 'detached', leaseMs: 15_000 })
  expect(claimsOf(await takeFrom(lanes))).toEqual([])
  const [lease] = leases
  const settlement = {
    subscriptionId: id,
    delivery: message.id,
    lease: lease ?? '',
    to: { op: 'delivered' },
  } as const
  expect((await lanes.settle(SHARD, [settlement])).accepted).toEqual([true])
  expect(await redis.exists(messageKey(BASE, message.id))).toBe(0)
})

test('a batch whose reply was lost gives the leases again that are still its own', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => writeLane(redis)))
  const message = makeMessage()
  const park = { as: 'detached', leaseMs: 15_000 } as const
  const entries = ids.map((subscriptionId) => ({ subscriptionId, delivery: message.id, message: 0, park }))
  const jobs = [{ jobName: 'j', fence: 1, fields: [batchField('1.1')], entries }]
  const parkBatch = async () => {
    const [job] = (await lanes.park(SHARD, { messages: [message], jobs })).jobs
    return job?.stale === false ? job.leases : []
  }
  const leases = await parkBatch()
  const [settled, taken, flying] = ids.map((subscriptionId, i): Settlement => {
    const to = { op: 'delivered' } as const
    return { subscriptionId, delivery: message.id, lease: leases[i] ?? '', to }
  }) as [Settlement, Settlement, Settlement]
  await lanes.settle(SHARD, [settled])
  // The entry's lease has ended, and another worker has claimed it for the same time.
  await redis.zincrby(leaseKey(BASE, taken.subscriptionId), 2_048, taken.delivery)
  expect(await parkBatch()).toEqual([null, null, flying.lease])
  expect((await lanes.settle(SHARD, [flying])).accepted).toEqual([true])
})

test('wakes are published only when the shard has something due earlier than before', async () => {
  const heard: string[] = []
  const subscriber = new Redis(server.url)
  await subscriber.subscribe(WAKE_LANES)
  subscriber.on('message', (_, text: string) => heard.push(text))
  const [slow, quick] = [await writeLane(redis), await writeLane(redis)]
  await parkAll(lanes, [slow], [makeMessage()], RETRY)
  await parkAll(lanes, [quick], [makeMessage()], { ...RETRY, delayMs: 90_000 })
  await parkAll(lanes, [quick], [makeMessage()], { ...RETRY, delayMs: 30_000 })
  await redis.publish(WAKE_LANES, 'end')
  await waitFor(() => heard.includes('end'))
  const dues = heard.slice(0, -1).map((text) => Number(text.split(':')[1]) - Date.now())
  expect(heard.slice(0, -1).every((text) => text.startsWith(`${SHARD}:`))).toBe(true)
  expect(dues.map((ms) => Math.round(ms / 10_000))).toEqual([6, 3])
  expect([...(await lanes.busyShards()).due.keys()]).toEqual([SHARD])
  subscriber.disconnect()
})

test('a redriven batch that is repeated parks nothing twice, not even what was delivered meanwhile', async () => {
  const id = await writeLane(redis)
  const message = makeMessage()
  const batch = {
    task: 't',
    fence: 1,
    batch: 1,
    messages: [message],
    entries: [
      {
        subscriptionId: id,
        delivery: Buffer.concat([message.id, Buffer.from([0, 1])]),
        message: 0,
        itemId: 'i',
      },
    ],
  }
  expect(await lanes.parkRedriven(SHARD, batch)).toMatchObject({ stale: false, outcomes: ['parked'] })
  const claims = claimsOf(await takeFrom(lanes))
  expect(claims.map(({ delivery }) => delivery)).toEqual([batch.entries[0]?.delivery])
  await lanes.settle(
    SHARD,
    claims.map((claim) => ({ ...claim, to: { op: 'delivered' } as const })),
  )
  expect(await lanes.parkRedriven(SHARD, batch)).toMatchObject({ outcomes: ['present'] })
  expect(await lanes.parkRedriven(SHARD, { ...batch, batch: 2 })).toMatchObject({ outcomes: ['parked'] })
  expect(await lanes.parkRedriven(SHARD, batch)).toEqual({ stale: true, laterBatch: 2 })
})

test('a redrive of an older run is refused, and one to a deleted subscription is not counted', async () => {
  const request = {
    task: 't',
    fence: 2,
    batch: 1,
    messages: [makeMessage()],
    entries: [{ subscriptionId: 'deleted', delivery: makeMessage().id, message: 0, itemId: 'i' }],
  }
  expect(await lanes.parkRedriven(SHARD, request)).toMatchObject({ outcomes: ['unsubscribed'] })
  expect(await lanes.parkRedriven(SHARD, { ...request, fence: 1 })).toEqual({ stale: true })
  expect(await redis.hgetall(countsKey(BASE))).toEqual({})
})

test('a full memory keeps nothing that was accepted from being parked, taken and settled', async () => {
  const id = await writeLane(redis)
  await redis.config('SET', 'maxmemory', '1')
  try {
    await expect(redis.set('x', 'y')).rejects.toThrow('OOM')
    await parkAll(lanes, [id], [makeMessage(), makeMessage()])
    const [one, two] = claimsOf(await takeFrom(lanes))
    if (!one || !two) throw new Error('two claims were due')
    const state = { kind: 'retry', attempts: 1, statusCode: 500, error: null } as const
    const { accepted } = await lanes.settle(SHARD, [
      { ...one, to: { op: 'retry', delayMs: 0, state } },
      { ...two, to: { op: 'delivered' } },
    ])
    expect(accepted).toEqual([true, true])
    expect(await lanes.figures([{ subscriptionId: id, shard: SHARD }])).toMatchObject([
      { waiting: 1, inFlight: 0 },
    ])
    expect(await lanes.openCheckpoint(SHARD, 'j', 1)).toMatchObject({ stale: false })
    expect(await lanes.purge(SHARD, id)).toBe(1)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
})
