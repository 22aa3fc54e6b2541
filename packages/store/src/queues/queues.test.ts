import { randomUUID } from 'node:crypto'
import { topicArn } from '@fantail/contracts'
import { crashing } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { sourcesKey } from '../keys/keys.ts'
import { newSubscription } from '../subscriptions/subscriptions.fixture.ts'
import { Subscriptions } from '../subscriptions/subscriptions.ts'
import { Topics } from '../topics/topics.ts'
import { aDeadLetter, newArn, newFifoArn, startQueues, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const HOUR_MS = 3_600_000
const fixture = await useQueues()
afterEach(async () => {
  await fixture.skew(0)
  expect(fixture.problems.splice(0)).toEqual([])
})

async function aQueue(set = {}): Promise<string> {
  const arn = newArn()
  await fixture.queues.put(arn, set)
  return arn
}

/** A queue whose messages go to `dlq` after `maxReceiveCount` receives. */
async function aPair(maxReceiveCount: number, set = {}) {
  const dlq = await aQueue()
  const redrivePolicy = { deadLetterTargetArn: dlq, maxReceiveCount }
  return { dlq, arn: await aQueue({ redrivePolicy, ...set }) }
}

const one = { maxMessages: 1 }
const ten = { maxMessages: 10 }
const shown = (handles: string[], seconds: number) => handles.map((handle) => ({ handle, seconds }))
const handles = (messages: { receiptHandle?: string }[]) => messages.map((m) => m.receiptHandle ?? '')

test('a message is received once, with what was sent, and gone after its ack', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const attributes = { colour: { type: 'String', value: 'blue' } }
  const [sent] = await queues.send(arn, [{ body: 'hello "you"\u2028', attributes }])
  const received = await queues.receive(arn, ten)
  expect(received).toMatchObject([
    { messageId: sent?.messageId, body: 'hello "you"\u2028', attributes, receiveCount: 1 },
  ])
  expect(await queues.receive(arn, ten)).toEqual([])
  expect(await queues.ack(arn, handles(received))).toEqual([{ ok: true }])
  expect(await queues.getWithCounts(arn)).toMatchObject({
    counts: { visible: 0, inFlight: 0, delayed: 0 },
    oldestSince: null,
  })
})

test('[171] an unacknowledged message returns after its visibility timeout, with a new handle and a higher count', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 30 })
  await queues.send(arn, [{ body: 'x' }])
  const [first] = await queues.receive(arn, one)
  await skew(29_000)
  expect(await queues.receive(arn, one)).toEqual([])
  await skew(31_000)
  expect((await queues.getWithCounts(arn))?.counts).toEqual({ visible: 1, inFlight: 0, delayed: 0 })
  const [second] = await queues.receive(arn, one)
  expect(second).toMatchObject({ receiveCount: 2, firstReceivedAt: first?.firstReceivedAt })
  expect(second?.receiptHandle).not.toBe(first?.receiptHandle)
})

/** A message that was received `times` times, and the handle of each receive. */
async function receivedOften(arn: string, times: number): Promise<string[]> {
  const { queues, skew } = fixture
  await queues.send(arn, [{ body: 'a' }])
  const given: string[] = []
  for (let i = 0; i < times; i++) {
    await skew(i * 2_000)
    given.push(...handles(await queues.receive(arn, one)))
  }
  expect(given).toHaveLength(times)
  return given
}
const unavailable = [{ ok: false, error: 'message_not_available' }]

test.each([0, 1, 2, 3])(
  '[202] the handle of receive %i of four deletes the message, and is done again',
  async (n) => {
    const { queues } = fixture
    const arn = await aQueue({ visibilityTimeoutSeconds: 1 })
    const given = await receivedOften(arn, 4)
    expect(new Set(given).size).toBe(4)
    expect(await queues.ack(arn, given.slice(n, n + 1))).toEqual([{ ok: true }])
    expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
    expect(await queues.ack(arn, given)).toEqual(Array(4).fill({ ok: true }))
  },
)

test('[174][202] an expired handle deletes a message that nobody has received since, or that waits again', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 1 })
  for (const times of [1, 2]) {
    const [old = ''] = await receivedOften(arn, times)
    await skew(10_000)
    expect((await queues.getWithCounts(arn))?.counts.visible).toBe(1)
    expect(await queues.ack(arn, [old])).toEqual([{ ok: true }])
    expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
    await skew(0)
  }
})

test('[203] a handle of an earlier receive changes the visibility of a message in flight, and of no other', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 1 })
  const [old = '', fresh = ''] = await receivedOften(arn, 2)
  expect(await queues.changeVisibility(arn, shown([old], 5))).toEqual([{ ok: true }])
  await skew(6_000)
  expect(await queues.receive(arn, one)).toEqual([])
  await skew(8_000)
  for (const handle of [old, fresh]) {
    expect(await queues.changeVisibility(arn, shown([handle], 5))).toEqual(unavailable)
  }
  expect((await queues.getWithCounts(arn))?.counts.visible).toBe(1)
})

test('an earlier handle deletes and hides nothing if only the newest receive counts', async () => {
  const { queues } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 1 })
  const [old = '', fresh = ''] = await receivedOften(arn, 2)
  const rule = { newestOnly: true }
  expect(await queues.ack(arn, [old], rule)).toEqual([{ ok: true }])
  expect(await queues.changeVisibility(arn, shown([old], 5), rule)).toEqual(unavailable)
  expect((await queues.getWithCounts(arn))?.counts.inFlight).toBe(1)
  expect(await queues.changeVisibility(arn, shown([fresh], 5), rule)).toEqual([{ ok: true }])
  expect(await queues.ack(arn, [fresh], rule)).toEqual([{ ok: true }])
  expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
})

test('a handle of an earlier stay of its id, or with an altered secret, deletes and hides nothing', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue()
  const id = randomUUID()
  const former: string[] = []
  for (const late of [0, HOUR_MS]) {
    await skew(late)
    await queues.send(arn, [{ id, body: 'a' }])
    former.push(...handles(await queues.receive(arn, one)))
    if (late === 0) await queues.ack(arn, former)
  }
  const [old = '', fresh = ''] = former
  const altered = Buffer.from(fresh, 'base64url')
  altered[39] = (altered[39] ?? 0) ^ 1
  const none = [old, altered.toString('base64url')]
  await queues.ack(arn, none)
  expect(await queues.changeVisibility(arn, shown(none, 5))).toEqual([...unavailable, ...unavailable])
  expect((await queues.getWithCounts(arn))?.counts.inFlight).toBe(1)
})

test('[202] handles of the last 256 receives count, and take a bounded place', async () => {
  const { queues, redis } = fixture
  const arn = await aQueue()
  const [sent] = await queues.send(arn, [{ body: 'a' }])
  const given: string[] = []
  for (let receive = 0; receive < 260; receive++) {
    given.push(...handles(await queues.receive(arn, { maxMessages: 1, visibilityTimeoutSeconds: 0 })))
  }
  const [item = ''] = await redis.keys(`*:i:${sent?.messageId}`)
  expect(await redis.hstrlen(item, 'h')).toBe(256 * 16)
  await queues.ack(arn, given.slice(0, 4))
  expect((await queues.getWithCounts(arn))?.counts.visible).toBe(1)
  await queues.ack(arn, given.slice(4, 5))
  expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
})

test('[202] a handle of before a move that found no dead-letter queue still deletes', async () => {
  const { queues, skew } = fixture
  const { dlq, arn } = await aPair(1, { visibilityTimeoutSeconds: 1 })
  await queues.delete(dlq)
  const [old = '', fresh = ''] = await receivedOften(arn, 2)
  expect(fresh).not.toBe('')
  await skew(10_000)
  expect(await queues.ack(arn, [old])).toEqual([{ ok: true }])
  expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
})

test('a message on its way to the dead-letter queue can be deleted by its handle, but not hidden', async () => {
  const { queues, redis, skew } = fixture
  const { dlq, arn } = await aPair(1, { visibilityTimeoutSeconds: 1 })
  const given = await receivedOften(arn, 1)
  await skew(2_000)
  const dying = new Queues(crashing(redis, (script) => script === 'send-messages-1'))
  await expect(dying.receive(arn, one)).rejects.toThrow('crashed')
  expect(await queues.changeVisibility(arn, shown(given, 5))).toEqual(unavailable)
  expect(await queues.ack(arn, given)).toEqual([{ ok: true }])
  await skew(30_000)
  await queues.sweep()
  for (const queue of [arn, dlq]) expect((await queues.getWithCounts(queue))?.counts.visible).toBe(0)
})

test('[175] handles of no queue, of another queue and of its former self are refused, in place', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const other = await aQueue()
  await queues.send(arn, [{ body: 'a' }])
  await queues.send(other, [{ body: 'b' }])
  const mine = handles(await queues.receive(arn, one))
  const foreign = handles(await queues.receive(other, one))
  const invalid = { ok: false, error: 'invalid_receipt_handle' }
  const given = ['garbage', ...foreign, ...mine, '']
  expect(await queues.changeVisibility(arn, shown(given, 60))).toEqual([
    invalid,
    invalid,
    { ok: true },
    invalid,
  ])
  expect(await queues.ack(arn, given)).toEqual([invalid, invalid, { ok: true }, invalid])
  await queues.delete(other)
  await queues.put(other, {})
  expect(await queues.ack(other, foreign)).toEqual([invalid])
})

test('[172][173] visibility 0 shows a message at once, extensions end 12 hours after the receive', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue()
  await queues.send(arn, [{ body: 'a' }])
  const first = handles(await queues.receive(arn, one))
  expect(await queues.changeVisibility(arn, shown(first, 0))).toEqual([{ ok: true }])
  const again = handles(await queues.receive(arn, one))
  expect(await queues.changeVisibility(arn, shown(again, 11 * 3_600))).toEqual([{ ok: true }])
  await skew(10 * HOUR_MS)
  expect(await queues.changeVisibility(arn, shown(again, 2 * 3_600 - 5))).toEqual([{ ok: true }])
  const refused = [{ ok: false, error: 'visibility_limit_exceeded' }]
  expect(await queues.changeVisibility(arn, shown(again, 2 * 3_600 + 5))).toEqual(refused)
})

test('no handle hides a message that is visible: its time is over, or it was shown early', async () => {
  const { queues, skew } = fixture
  for (const newestOnly of [false, true]) {
    const arn = await aQueue({ visibilityTimeoutSeconds: 1 })
    await queues.send(arn, [{ body: 'late' }, { body: 'shown' }])
    const given = handles(await queues.receive(arn, ten))
    const shownEarly = given.slice(1)
    await queues.changeVisibility(arn, shown(shownEarly, 0))
    expect(await queues.changeVisibility(arn, shown(shownEarly, 60), { newestOnly })).toEqual(unavailable)
    await skew(5_000)
    const results = await queues.changeVisibility(arn, shown(given, 60), { newestOnly })
    expect(results).toEqual([...unavailable, ...unavailable])
    expect(await queues.receive(arn, ten)).toHaveLength(2)
    await skew(0)
  }
})

test('delays hide before the first receive: the queue default, or the message own', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ delaySeconds: 60 })
  await queues.send(arn, [
    { body: 'default' },
    { body: 'now', delaySeconds: 0 },
    { body: 'long', delaySeconds: 90 },
  ])
  expect((await queues.getWithCounts(arn))?.counts).toEqual({ visible: 1, inFlight: 0, delayed: 2 })
  expect(await queues.receive(arn, ten)).toMatchObject([{ body: 'now' }])
  await skew(61_000)
  expect((await queues.receive(arn, ten)).map((m) => m.body).sort()).toEqual(['default', 'now'])
  await skew(91_000)
  expect((await queues.receive(arn, ten)).map((m) => m.body)).toEqual(['long', 'now', 'default'])
})

test('messages come in the order in which they were sent, those of one millisecond too', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const bodies = Array.from({ length: 30 }, (_, i) => `m${i}`)
  await queues.send(
    arn,
    bodies.map((body) => ({ body })),
  )
  const received = [
    ...(await queues.receive(arn, ten)),
    ...(await queues.receive(arn, ten)),
    ...(await queues.receive(arn, ten)),
  ]
  expect(received.map((m) => m.body)).toEqual(bodies)
})

test('a send with an id is stored once, also for ten minutes after the message was consumed', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue()
  const item = { id: randomUUID(), body: 'once' }
  expect(await queues.send(arn, [item, item])).toEqual([
    { messageId: item.id },
    { messageId: item.id, duplicate: true },
  ])
  const received = await queues.receive(arn, ten)
  expect(received.length).toBe(1)
  await queues.send(arn, [item])
  await queues.ack(arn, handles(received))
  await skew(9.5 * 60_000)
  await queues.send(arn, [item])
  expect(await queues.receive(arn, ten)).toEqual([])
  await skew(10.5 * 60_000)
  await queues.send(arn, [item])
  expect((await queues.receive(arn, ten)).length).toBe(1)
})

test('retention removes messages at a receive and, in an idle queue, by the sweep', async () => {
  const { queues, skew, redis } = fixture
  const arn = await aQueue({ retentionSeconds: 60 })
  const idle = await aQueue({ retentionSeconds: 60 })
  await queues.send(arn, [{ body: 'old' }])
  await queues.send(
    idle,
    Array.from({ length: 5 }, (_, i) => ({ body: `old ${i}` })),
  )
  await skew(61_000)
  await queues.send(arn, [{ body: 'new' }])
  expect((await queues.receive(arn, ten)).map((m) => m.body)).toEqual(['new'])
  expect((await queues.peek(idle, { limit: 10 })).items).toEqual([])
  expect(await queues.sweep()).toBe(5)
  const uid = (await queues.get(idle))?.uid
  expect(await redis.keys(`*q:${uid}:i:*`)).toEqual([])
})

test('a dead letter is kept from its dead-lettering on and counted by kind until it leaves', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ retentionSeconds: 3_600 })
  const early = aDeadLetter({ deadLetteredAt: Date.now() - 1_800_000 })
  const late = aDeadLetter({ reason: 'retriesExhausted', statusCode: null, lastError: 'timeout' })
  await queues.send(arn, [
    { id: randomUUID(), body: 'a', deadLetter: early },
    { id: randomUUID(), body: 'b', deadLetter: late },
    { body: 'no dead letter' },
  ])
  expect(await queues.deadLetterCounts(arn)).toEqual({
    byReason: { permanent: 1, retriesExhausted: 1 },
    byStatusCode: { 404: 1, none: 1 },
    bySubscription: { [late.subscriptionArn]: 2 },
  })
  await skew(1_900_000)
  const received = await queues.receive(arn, ten)
  expect(received.map((m) => [m.body, m.deadLetter])).toEqual([
    ['b', late],
    ['no dead letter', undefined],
  ])
  await queues.ack(arn, handles(received))
  expect(await queues.deadLetterCounts(arn)).toEqual({ byReason: {}, byStatusCode: {}, bySubscription: {} })
})

test('[176][177] after maxReceiveCount receives the next one moves the message, count and all', async () => {
  const { queues, skew } = fixture
  const { dlq, arn } = await aPair(2, { visibilityTimeoutSeconds: 1 })
  const attributes = { colour: { type: 'String', value: 'blue' } }
  const poison = { body: 'poison', attributes, groupId: 'g', traceHeader: 'Root=1-5759e988' }
  const [sent] = await queues.send(arn, [poison])
  const sentAt = (await queues.message(arn, sent?.messageId ?? ''))?.sentAt
  for (const count of [1, 2]) {
    expect(await queues.receive(arn, one)).toMatchObject([{ receiveCount: count }])
    await skew(count * 2_000)
  }
  expect((await queues.getWithCounts(dlq))?.counts.visible).toBe(0)
  await queues.send(arn, [{ body: 'next' }])
  // The poison has taken all of the processing time so far, so its group is behind.
  expect(await queues.receive(arn, ten)).toMatchObject([{ body: 'next' }])
  const dead = await queues.receive(dlq, ten)
  expect(dead).toMatchObject([
    { ...poison, messageId: sent?.messageId, sentAt, receiveCount: 3, deadLetterSourceArn: arn },
  ])
  expect(dead[0]?.deadLetter).toBeUndefined()
  expect((await queues.getWithCounts(arn))?.counts).toEqual({ visible: 0, inFlight: 1, delayed: 0 })
})

test('[207] a chain of queues with maxReceiveCount 1 offers a message once each, and the count goes on', async () => {
  const { queues, skew } = fixture
  const [third, second, first] = [await aQueue(), await aQueue(), await aQueue()]
  await queues.patch(second, { redrivePolicy: { deadLetterTargetArn: third, maxReceiveCount: 1 } })
  await queues.patch(first, { redrivePolicy: { deadLetterTargetArn: second, maxReceiveCount: 1 } })
  await queues.send(first, [{ body: 'poison' }])
  for (const [place, arn] of [first, second, third].entries()) {
    await skew(place * HOUR_MS)
    for (const before of [first, second].slice(0, place))
      expect(await queues.receive(before, one)).toEqual([])
    expect(await queues.receive(arn, one)).toMatchObject([{ body: 'poison', receiveCount: place + 1 }])
  }
})

test.each([
  ['standard', false],
  ['FIFO', true],
])(
  '[206] a %s queue may be its own dead-letter queue: the message stays, and is offered as often again',
  async (_, fifo) => {
    const { queues, skew } = fixture
    const arn = fifo ? newFifoArn() : newArn()
    await queues.put(arn, { visibilityTimeoutSeconds: 1 })
    await queues.patch(arn, { redrivePolicy: { deadLetterTargetArn: arn, maxReceiveCount: 2 } })
    await queues.send(arn, [{ body: 'round', ...(fifo && { groupId: 'g', deduplicationId: 'd' }) }])
    for (let receive = 1; receive <= 5; receive++) {
      await skew(receive * 2_000)
      expect(await queues.receive(arn, ten)).toMatchObject([{ body: 'round', receiveCount: receive }])
    }
    expect((await queues.getWithCounts(arn))?.counts).toMatchObject({ visible: 0, inFlight: 1, delayed: 0 })
    expect(await queues.listSources(arn)).toEqual([arn])
    await queues.delete(arn)
  },
)

test('[178] retention after a maxReceiveCount move counts from the original send', async () => {
  const { queues, skew } = fixture
  const { dlq, arn } = await aPair(1, { visibilityTimeoutSeconds: 1 })
  await queues.patch(dlq, { retentionSeconds: 3_600 })
  await queues.send(arn, [{ body: 'a' }])
  await queues.receive(arn, one)
  await skew(HOUR_MS - 60_000)
  await queues.receive(arn, one)
  expect((await queues.getWithCounts(dlq))?.counts.visible).toBe(1)
  await skew(HOUR_MS + 1_000)
  expect((await queues.getWithCounts(dlq))?.counts.visible).toBe(0)
})

test('a move that a crash cut off before its end is taken up again and stores the message once', async () => {
  const { queues, skew, redis } = fixture
  const { dlq, arn } = await aPair(1, { visibilityTimeoutSeconds: 1 })
  await queues.send(arn, [{ body: 'a' }, { body: 'b' }])
  const ids = (await queues.receive(arn, ten)).map((m) => m.messageId)
  await skew(2_000)
  const dying = new Queues(crashing(redis, (script) => script === 'settle-moves-1'))
  await expect(dying.receive(arn, ten)).rejects.toThrow('crashed')
  expect((await queues.getWithCounts(arn))?.counts).toEqual({ visible: 0, inFlight: 2, delayed: 0 })
  const moved = await queues.receive(dlq, ten)
  expect(moved.map((m) => m.messageId).sort()).toEqual(ids.sort())
  await queues.ack(dlq, handles(moved))
  await skew(13_000)
  await queues.sweep()
  expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
  expect((await queues.getWithCounts(dlq))?.oldestSince).toBeNull()
})

test('without its dead-letter queue, a queue’s messages are received again', async () => {
  const { queues, skew } = fixture
  const { dlq, arn } = await aPair(1, { visibilityTimeoutSeconds: 1 })
  await queues.delete(dlq)
  await queues.send(arn, [{ body: 'a' }])
  await queues.receive(arn, one)
  await skew(2_000)
  expect(await queues.receive(arn, one)).toMatchObject([{ body: 'a', receiveCount: 2 }])
  await queues.put(dlq, {})
  await skew(4_000)
  expect(await queues.receive(arn, one)).toEqual([])
  expect(await queues.receive(dlq, one)).toMatchObject([{ body: 'a', receiveCount: 3 }])
})

test('a clock that is set back hides nothing for longer than its timeout', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 30 })
  await skew(HOUR_MS)
  await queues.send(arn, [{ body: 'hidden' }, { body: 'delayed', delaySeconds: 20 }, { body: 'ready' }])
  await queues.receive(arn, one)
  await skew(0)
  expect(await queues.receive(arn, one)).toMatchObject([{ body: 'ready' }])
  await skew(31_000)
  expect((await queues.receive(arn, ten)).map((m) => m.body).sort()).toEqual(['delayed', 'hidden', 'ready'])
})

test('purge removes what is there, in flight too, and leaves what comes after', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  await queues.send(
    arn,
    Array.from({ length: 1_200 }, (_, i) => ({ body: String(i), delaySeconds: i % 2 })),
  )
  await queues.receive(arn, ten)
  expect(await queues.purge(arn)).toBe(1_200)
  await queues.send(arn, [{ body: 'after' }])
  expect((await queues.getWithCounts(arn))?.counts).toEqual({ visible: 1, inFlight: 0, delayed: 0 })
})

test('peek pages through everything in order of retention, with any concurrent changes', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const sent = await queues.send(
    arn,
    Array.from({ length: 25 }, (_, i) => ({ body: `m${i}` })),
  )
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await queues.peek(arn, { limit: 10, ...(cursor ? { cursor } : {}) })
    seen.push(...page.items.map((m) => m.body))
    expect(page.items[0]).not.toHaveProperty('receiptHandle')
    await queues.deleteMessage(arn, sent[seen.length - 1]?.messageId ?? '')
    cursor = page.nextCursor
  } while (cursor)
  expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `m${i}`))
  expect((await queues.receive(arn, one))[0]?.receiveCount).toBe(1)
  await expect(queues.peek(arn, { limit: 1, cursor: 'bad' })).rejects.toMatchObject({
    code: 'validation_failed',
  })
})

test('peek filters by subscription, status code and time of dead-lettering', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const now = Date.now()
  const letters = [404, 500, 404, null].map((statusCode, i) =>
    aDeadLetter({ statusCode, deadLetteredAt: now - 10 + i }),
  )
  await queues.send(
    arn,
    letters.map((deadLetter, i) => ({ id: randomUUID(), body: String(i), deadLetter })),
  )
  await queues.send(arn, [{ body: 'plain' }])
  const bodies = async (filter: object) =>
    (await queues.peek(arn, { limit: 10, ...filter })).items.map((m) => m.body)
  expect(await bodies({ statusCode: 404 })).toEqual(['0', '2'])
  expect(await bodies({ since: now - 9, until: now - 8 })).toEqual(['1', '2'])
  expect(await bodies({ subscription: letters[0]?.subscriptionArn })).toEqual(['0', '1', '2', '3'])
  expect(await bodies({ subscription: 'arn:other' })).toEqual([])
})

test('dead letters of one reason are purged page by page, in flight too; all else stays', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const reasons = ['permanent', 'expired'] as const
  const letters = Array.from({ length: 1_200 }, (_, i) =>
    aDeadLetter({ reason: reasons[i % 2] ?? 'expired' }),
  )
  await queues.send(
    arn,
    letters.map((deadLetter) => ({ id: randomUUID(), body: deadLetter.reason, deadLetter })),
  )
  await queues.send(arn, [{ body: 'plain' }])
  const received = await queues.receive(arn, { maxMessages: 10 })
  expect(new Set(received.map(({ body }) => body)).has('expired')).toBe(true)
  expect(await queues.purgeDeadLetters(arn, { reason: 'expired' })).toBe(600)
  expect(await queues.purgeDeadLetters(arn, { reason: 'expired' })).toBe(0)
  expect((await queues.deadLetterCounts(arn)).byReason).toEqual({ permanent: 600 })
  expect(await queues.purge(arn)).toBe(601)
})

test('a message can be looked at and deleted by id', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const [sent] = await queues.send(arn, [{ body: 'a' }])
  const id = sent?.messageId ?? ''
  expect(await queues.message(arn, id)).toMatchObject({ messageId: id, body: 'a', receiveCount: 0 })
  expect(await queues.deleteMessage(arn, id)).toBe(true)
  expect(await queues.deleteMessage(arn, id)).toBe(false)
  expect(await queues.message(arn, id)).toBeNull()
})

test('a dead letter is stored, received and acknowledged when memory is full; a plain send is refused', async () => {
  const { queues, redis } = fixture
  const arn = await aQueue()
  await redis.config('SET', 'maxmemory', '1')
  try {
    await expect(queues.send(arn, [{ body: 'plain' }])).rejects.toThrow('OOM')
    await queues.send(arn, [{ id: randomUUID(), body: 'dead', deadLetter: aDeadLetter() }])
    const received = await queues.receive(arn, ten)
    expect(received.map((m) => m.body)).toEqual(['dead'])
    expect(await queues.ack(arn, handles(received))).toEqual([{ ok: true }])
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
})

test('a group and a trace header pass through a standard queue and order nothing', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const item = { body: 'a', groupId: 'tenant', traceHeader: 'Root=1-5759e988-bd862e3fe1be46a994272793' }
  const [sent] = await queues.send(arn, [item, item])
  expect(sent).not.toHaveProperty('sequenceNumber')
  expect(await queues.receive(arn, one)).toMatchObject([item])
  expect(await queues.receive(arn, one)).toMatchObject([item])
})

test('past the bound of messages in flight a short receive is refused and a long one gets nothing', async () => {
  const { redis } = fixture
  const queues = new Queues(redis, { inFlightMax: 2 })
  const arn = await aQueue()
  await queues.send(arn, [{ body: 'a' }, { body: 'b' }, { body: 'c' }])
  const received = await queues.receive(arn, ten)
  expect(received.length).toBe(2)
  await expect(queues.receive(arn, ten)).rejects.toMatchObject({
    name: 'OverLimitError',
    code: 'rate_limited',
  })
  expect(await queues.receiveOnce(arn, ten)).toMatchObject({ messages: [], overLimit: true })
  await queues.ack(arn, handles(received).slice(0, 1))
  expect((await queues.receive(arn, ten)).length).toBe(1)
})

test('a changed retention holds for what is there already', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ retentionSeconds: 3_600 })
  await queues.send(arn, [{ body: 'a' }])
  await skew(120_000)
  await queues.patch(arn, { retentionSeconds: 60 })
  expect(await queues.receive(arn, ten)).toEqual([])
})

test('each handle of a change of visibility has its own time', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue()
  await queues.send(arn, [{ body: 'a' }, { body: 'b' }])
  const [a = '', b = ''] = handles(await queues.receive(arn, ten))
  const changes = [
    { handle: a, seconds: 60 },
    { handle: 'garbage', seconds: 5 },
    { handle: b, seconds: 5 },
  ]
  const results = await queues.changeVisibility(arn, changes)
  expect(results.map(({ ok }) => ok)).toEqual([true, false, true])
  await skew(6_000)
  expect(await queues.receive(arn, ten)).toMatchObject([{ body: 'b' }])
})

test('the last purge and the last deletion are remembered, the deletion for a minute', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue()
  expect(await queues.lastPurgedAt(arn)).toBeNull()
  const from = Date.now()
  await queues.purge(arn)
  const purgedAt = (await queues.lastPurgedAt(arn)) ?? 0
  expect(purgedAt - from).toBeLessThan(5_000)
  expect(purgedAt).toBeGreaterThanOrEqual(from)
  expect(await queues.deletedAt(arn)).toBeNull()
  await queues.delete(arn)
  expect(await queues.lastPurgedAt(arn)).toBeNull()
  expect(await queues.deletedAt(arn)).toBeGreaterThanOrEqual(purgedAt)
  await skew(61_000)
  expect(await queues.deletedAt(arn)).toBeNull()
})

test('a moved message is as old as its time in the dead-letter queue', async () => {
  const { queues, skew } = fixture
  const { dlq, arn } = await aPair(1, { visibilityTimeoutSeconds: 1 })
  await queues.send(arn, [{ body: 'a' }])
  await queues.receive(arn, one)
  await skew(HOUR_MS)
  await queues.receive(arn, one)
  const since = (await queues.getWithCounts(dlq))?.oldestSince ?? 0
  expect(since - Date.now()).toBeGreaterThan(HOUR_MS - 5_000)
})

test('put creates with defaults, then sets what is given; patch needs a queue', async () => {
  const { queues } = fixture
  const arn = newArn()
  await expect(queues.patch(arn, {})).rejects.toMatchObject({ code: 'not_found' })
  const { queue, created } = await queues.put(arn, { delaySeconds: 3 })
  expect(created).toBe(true)
  expect(queue).toMatchObject({ visibilityTimeoutSeconds: 30, retentionSeconds: 1_209_600, delaySeconds: 3 })
  expect(await queues.put(arn, { retentionSeconds: 60 })).toMatchObject({
    created: false,
    queue: { delaySeconds: 3, retentionSeconds: 60, uid: queue.uid, createdAt: queue.createdAt },
  })
  expect(await queues.get(arn)).toMatchObject({ delaySeconds: 3, retentionSeconds: 60 })
})

test('changes made at the same time are all kept', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  await Promise.all([
    queues.put(arn, { delaySeconds: 1 }),
    queues.patch(arn, { retentionSeconds: 61 }),
    queues.patch(arn, { receiveWaitSeconds: 7 }),
  ])
  expect(await queues.get(arn)).toMatchObject({
    delaySeconds: 1,
    retentionSeconds: 61,
    receiveWaitSeconds: 7,
  })
})

test('the dead-letter queue must exist, and knows the queues that name it', async () => {
  const { queues } = fixture
  const missing = { deadLetterTargetArn: newArn(), maxReceiveCount: 3 }
  const invalid = { code: 'validation_failed', details: [{ path: 'redrivePolicy.deadLetterTargetArn' }] }
  await expect(queues.put(newArn(), { redrivePolicy: missing })).rejects.toMatchObject(invalid)
  const { dlq, arn } = await aPair(3)
  expect(await queues.sources(dlq)).toEqual([arn])
  await queues.patch(arn, { redrivePolicy: null })
  expect(await queues.sources(dlq)).toEqual([])
  await queues.patch(arn, { redrivePolicy: { deadLetterTargetArn: dlq, maxReceiveCount: 1 } })
  await queues.delete(arn)
  expect(await queues.sources(dlq)).toEqual([])
})

test('a dead-letter queue is of the same account, region and kind, and may refuse its sources', async () => {
  const { queues } = fixture
  const [dlq, fifoDlq] = [await aQueue(), newFifoArn()]
  const [source, fifo] = [newArn(), newFifoArn()]
  await queues.put(fifoDlq, {})
  const to = (arn: string, target: string) =>
    queues.put(arn, { redrivePolicy: { deadLetterTargetArn: target, maxReceiveCount: 1 } })
  const path = 'redrivePolicy.deadLetterTargetArn'
  const refused = { code: 'validation_failed', details: [{ path }] }
  await expect(to(fifo, dlq)).rejects.toMatchObject(refused)
  await expect(to(source, fifoDlq)).rejects.toMatchObject(refused)
  await expect(to(source.replace('us-east-1', 'eu-west-1'), dlq)).rejects.toMatchObject(refused)
  await expect(to(source.replace('000000000000', '111111111111'), dlq)).rejects.toMatchObject(refused)
  await queues.patch(dlq, { redriveAllowPolicy: { redrivePermission: 'denyAll' } })
  await expect(to(source, dlq)).rejects.toMatchObject(refused)
  const sourceQueueArns = [source]
  await queues.patch(dlq, { redriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns } })
  await expect(to(newArn(), dlq)).rejects.toMatchObject(refused)
  await to(source, dlq)
  await queues.patch(dlq, { redriveAllowPolicy: null })
  await to(newArn('another'), dlq)
  expect(await queues.listSources(dlq)).toEqual((await queues.sources(dlq)).sort())
})

test('a subscription is a source for as long as it names the queue', async () => {
  const { queues, redis, skew } = fixture
  const arn = await aQueue()
  const topic = topicArn('with-dead-letters')
  await new Topics(redis).put(topic, {})
  const subscriptions = new Subscriptions(redis)
  const redrivePolicy = { deadLetterTargetArn: arn }
  const { subscription } = await subscriptions.create(newSubscription(topic, 1, { redrivePolicy }))
  await queues.addSource(arn, subscription.arn)
  expect(await queues.sources(arn)).toEqual([subscription.arn])
  await subscriptions.delete(subscription.id)
  expect(await queues.sources(arn)).toEqual([])
  await skew(61_000)
  await queues.sources(arn)
  expect(await redis.exists(sourcesKey(arn, 'sns'))).toBe(0)
})

test('a list is sorted, paged and filtered by the name', async () => {
  const { queues } = fixture
  const names = ['list-a', 'list-b', 'list-c'].map((name) => newArn(name))
  await Promise.all(names.map((arn) => queues.put(arn, {})))
  const first = await queues.list({ prefix: 'list-', limit: 2 })
  expect(first.items.map((queue) => queue.arn)).toEqual(names.slice(0, 2))
  const rest = await queues.list({ prefix: 'list-', limit: 2, cursor: first.nextCursor ?? '' })
  expect(rest).toMatchObject({ items: [{ arn: names[2] }], nextCursor: null })
})

test('every call on a queue that does not exist says so', async () => {
  const { queues } = fixture
  const arn = newArn()
  const missing = { code: 'not_found' }
  await expect(queues.send(arn, [{ body: 'a' }])).rejects.toMatchObject(missing)
  await expect(queues.receive(arn, one)).rejects.toMatchObject(missing)
  await expect(queues.ack(arn, [])).rejects.toMatchObject(missing)
  await expect(queues.peek(arn, { limit: 1 })).rejects.toMatchObject(missing)
  await expect(queues.purge(arn)).rejects.toMatchObject(missing)
  await expect(queues.deadLetterCounts(arn)).rejects.toMatchObject(missing)
  expect(await queues.getWithCounts(arn)).toBeNull()
  await queues.delete(arn)
})

test('a deleted queue leaves no key, and a new one under its name is empty at once', async () => {
  const own = await startQueues()
  try {
    const { queues } = own
    const arn = newArn()
    const dlq = newArn()
    await queues.put(dlq, {})
    await queues.put(arn, { redrivePolicy: { deadLetterTargetArn: dlq, maxReceiveCount: 1 } })
    await queues.send(
      arn,
      Array.from({ length: 1_100 }, () => ({ id: randomUUID(), body: 'x' })),
    )
    await queues.send(arn, [
      { id: randomUUID(), body: 'x', deadLetter: aDeadLetter() },
      { body: 'y', delaySeconds: 9 },
    ])
    await queues.ack(arn, handles(await queues.receive(arn, ten)))
    await queues.receive(arn, ten)
    await queues.delete(arn)
    await queues.put(arn, {})
    expect(await queues.receive(arn, ten)).toEqual([])
    await queues.delete(arn)
    await queues.delete(dlq)
    expect(await own.keys()).toEqual([])
  } finally {
    await own.stop()
  }
})

test('a deletion that a crash cut off is finished by the sweep', async () => {
  const own = await startQueues()
  try {
    const arn = newArn()
    await own.queues.put(arn, {})
    await own.queues.send(arn, [{ body: 'left' }])
    const dying = new Queues(crashing(own.redis, (script) => script === 'drop-queue-1'))
    await expect(dying.delete(arn)).rejects.toThrow('crashed')
    await own.queues.sweep()
    expect(await own.keys()).toEqual([])
  } finally {
    await own.stop()
  }
})
