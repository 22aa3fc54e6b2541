import { createHash, randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { aDeadLetter, aMessage, newFifoArn, startQueues, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const fixture = await useQueues()
afterEach(async () => {
  await fixture.skew(0)
  expect(fixture.problems.splice(0)).toEqual([])
})

async function aQueue(set = {}): Promise<string> {
  const arn = newFifoArn()
  await fixture.queues.put(arn, { contentBasedDeduplication: true, ...set })
  return arn
}

/** Sends `g1-m1 g2-m1 …`. The group is the text before the dash. */
async function send(arn: string, bodies: string) {
  const items = bodies.split(' ').map((body) => ({ body, groupId: body.split('-')[0] ?? '' }))
  return fixture.queues.send(arn, items)
}

const receive = (arn: string, maxMessages: number, seconds?: number) =>
  fixture.queues.receive(arn, {
    maxMessages,
    ...(seconds !== undefined && { visibilityTimeoutSeconds: seconds }),
  })
const bodies = async (arn: string, maxMessages: number, seconds?: number) =>
  (await receive(arn, maxMessages, seconds)).map((m) => m.body).join(' ')
const handle = (message: { receiptHandle?: string } | undefined) => message?.receiptHandle ?? ''
const hide = (arn: string, message: { receiptHandle?: string } | undefined, seconds: number) =>
  fixture.queues.changeVisibility(arn, [{ handle: handle(message), seconds }])
const ack = (arn: string, ...messages: ({ receiptHandle?: string } | undefined)[]) =>
  fixture.queues.ack(arn, messages.map(handle))

test('one receive takes from one group first, in order, then from the others', async () => {
  const arn = await aQueue()
  await send(arn, 'g1-m1 g2-m1 g1-m2 g1-m3')
  expect(await bodies(arn, 10)).toBe('g1-m1 g1-m2 g1-m3 g2-m1')
})

test('[183] a group with something in flight is left alone, other groups are not', async () => {
  const arn = await aQueue({ visibilityTimeoutSeconds: 1 })
  await send(arn, 'g1-m1 g1-m2 g1-m3 g1-m4 g2-m1 g3-m1')
  expect(await bodies(arn, 2)).toBe('g1-m1 g1-m2')
  expect(await bodies(arn, 1)).toBe('g2-m1')
  await fixture.skew(2_000)
  expect(await bodies(arn, 10, 0)).toBe('g3-m1 g1-m1 g1-m2 g1-m3 g1-m4 g2-m1')
})

test('[183] with only m2 extended, a receive after the timeout returns m1 and nothing of the group behind m2', async () => {
  const arn = await aQueue({ visibilityTimeoutSeconds: 10 })
  await send(arn, 'g-m1 g-m2 g-m3')
  const [, m2] = await receive(arn, 10)
  expect(await hide(arn, m2, 100)).toEqual([{ ok: true }])
  await fixture.skew(11_000)
  expect(await bodies(arn, 10)).toBe('g-m1')
})

test('[183] with m1 deleted and m2 in flight the group stays blocked', async () => {
  const arn = await aQueue()
  await send(arn, 'g1-m1 g2-m1 g1-m2 g2-m2 g1-m3 g3-m1')
  const [m1, m2] = await receive(arn, 2)
  await ack(arn, m1)
  expect(await bodies(arn, 10)).toBe('g2-m1 g2-m2 g3-m1')
  await ack(arn, m2)
  expect(await bodies(arn, 10)).toBe('g1-m3')
})

test('[172][183] m1 shown again is returned although m2 is in flight, and m3 is not', async () => {
  const arn = await aQueue()
  await send(arn, 'g1-m1 g1-m2 g1-m3 g2-m1')
  await fixture.skew(5)
  const [m1] = await receive(arn, 2)
  expect(await hide(arn, m1, 0)).toEqual([{ ok: true }])
  expect(await bodies(arn, 10)).toBe('g2-m1 g1-m1')
})

test('a group whose first messages were deleted goes on where its next one stands', async () => {
  const arn = await aQueue()
  await send(arn, 'g1-m1 g2-m1 g1-m2 g2-m2 g1-m3 g1-m4 g3-m1')
  await ack(arn, ...(await receive(arn, 2)))
  expect(await bodies(arn, 10)).toBe('g2-m1 g2-m2 g1-m3 g1-m4 g3-m1')
})

test('[171] unacknowledged messages come back in order, with new handles and higher counts', async () => {
  const arn = await aQueue({ visibilityTimeoutSeconds: 5 })
  await send(arn, 'g-m0 g-m1 g-m2')
  const first = await receive(arn, 10)
  await fixture.skew(4_000)
  expect(await receive(arn, 10)).toEqual([])
  await fixture.skew(6_000)
  const second = await receive(arn, 10)
  expect(second.map((m) => [m.body, m.receiveCount, m.firstReceivedAt])).toEqual(
    first.map((m) => [m.body, 2, m.firstReceivedAt]),
  )
  expect(second.map(handle)).not.toEqual(first.map(handle))
})

test('a visibility timeout of 0 blocks nothing and keeps the order', async () => {
  const arn = await aQueue()
  await send(arn, 'g1-m1 g2-m1 g2-m2 g3-m1 g1-m2')
  // Groups come in the order in which they became visible, so a message that is shown again needs another millisecond.
  await fixture.skew(5)
  expect(await bodies(arn, 3, 0)).toBe('g1-m1 g1-m2 g2-m1')
  expect(await bodies(arn, 10, 0)).toBe('g3-m1 g1-m1 g1-m2 g2-m1 g2-m2')
})

test('sequence numbers have 20 digits and rise, and a duplicate takes none', async () => {
  const arn = await aQueue()
  const sent = await send(arn, 'g1-m1 g2-m1 g1-m1 g1-m2')
  const numbers = sent.map((item) => item.sequenceNumber ?? '')
  expect(numbers).toEqual([
    '10000000000000000001',
    '10000000000000000002',
    '10000000000000000001',
    '10000000000000000003',
  ])
  const received = await receive(arn, 10)
  expect(received.map((m) => [m.body, m.sequenceNumber, m.groupId])).toEqual([
    ['g1-m1', numbers[0], 'g1'],
    ['g1-m2', numbers[3], 'g1'],
    ['g2-m1', numbers[1], 'g2'],
  ])
})

test('[184] a deduplication id holds for 5 minutes, after deletion too, and answers with the first copy', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ contentBasedDeduplication: false })
  const item = { body: 'first', groupId: 'g', deduplicationId: 'd' }
  const [first] = await queues.send(arn, [item])
  await skew(4.9 * 60_000)
  await ack(arn, ...(await receive(arn, 1)))
  expect(await queues.send(arn, [{ ...item, body: 'second' }])).toEqual([{ ...first, duplicate: true }])
  expect(await receive(arn, 10)).toEqual([])
  await skew(5.1 * 60_000)
  const [third] = await queues.send(arn, [{ ...item, body: 'third' }])
  expect(third).not.toHaveProperty('duplicate')
  expect(await receive(arn, 10)).toMatchObject([{ body: 'third', deduplicationId: 'd', ...third }])
})

test('without an id the SHA-256 of the body counts, where the queue says so; where not, nothing is stored', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  await send(arn, 'g-a g-a g-b')
  const digests = ['g-a', 'g-b'].map((body) => createHash('sha256').update(body).digest('hex'))
  expect((await receive(arn, 10)).map((m) => m.deduplicationId)).toEqual(digests)
  await queues.patch(arn, { contentBasedDeduplication: false })
  const items = [
    { body: 'x', groupId: 'g', deduplicationId: 'x' },
    { body: 'y', groupId: 'h' },
  ]
  const refused = { code: 'validation_failed', details: [{ path: 'deduplicationId' }] }
  await expect(queues.send(arn, items)).rejects.toMatchObject(refused)
  expect(await receive(arn, 10)).toEqual([])
})

test('an id is that of the queue, or of the group alone where the scope says so', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const to = (groupId: string) => queues.send(arn, [{ body: 'b', groupId, deduplicationId: 'd' }])
  const [first] = await to('g1')
  expect(await to('g2')).toEqual([{ ...first, duplicate: true }])
  await queues.patch(arn, { deduplicationScope: 'messageGroup' })
  expect(await to('g1')).toEqual([{ ...first, duplicate: true }])
  const [other] = await to('g2')
  expect(other).not.toHaveProperty('duplicate')
  expect(await to('g2')).toEqual([{ ...other, duplicate: true }])
})

test('a change of the scope brings nothing back and makes nothing a duplicate of another group', async () => {
  const { queues } = fixture
  const arn = await aQueue({ deduplicationScope: 'messageGroup' })
  const to = (groupId: string) => queues.send(arn, [{ body: 'b', groupId, deduplicationId: 'd' }])
  await to('g1')
  await queues.patch(arn, { deduplicationScope: 'queue' })
  expect(await to('g1')).toMatchObject([{ duplicate: true }])
  const [second] = await to('g2')
  expect(second).not.toHaveProperty('duplicate')
  expect(await to('g3')).toEqual([{ ...second, duplicate: true }])
})

test('a purge forgets what was sent', async () => {
  const arn = await aQueue()
  await send(arn, 'g-a')
  await fixture.queues.purge(arn)
  await send(arn, 'g-a')
  expect(await bodies(arn, 10)).toBe('g-a')
})

test('a send needs a group and takes no delay but 0', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  const refused = (path: string) => ({ code: 'validation_failed', details: [{ path }] })
  await expect(queues.send(arn, [{ body: 'a' }])).rejects.toMatchObject(refused('groupId'))
  const delayed = { body: 'a', groupId: 'g', delaySeconds: 2 }
  await expect(queues.send(arn, [delayed])).rejects.toMatchObject(refused('delaySeconds'))
  await queues.send(arn, [{ ...delayed, delaySeconds: 0 }])
  expect(await bodies(arn, 1)).toBe('a')
})

test('[185] the delay is the queue’s, also for a message sent with 0, and a change of it keeps the order', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ delaySeconds: 60 })
  await queues.send(arn, [{ body: 'g-m1', groupId: 'g', delaySeconds: 0 }])
  expect((await queues.getWithCounts(arn))?.counts).toMatchObject({ visible: 0, delayed: 1 })
  await queues.patch(arn, { delaySeconds: 90 })
  await send(arn, 'g-m2')
  await skew(61_000)
  expect(await receive(arn, 10)).toEqual([])
  await queues.patch(arn, { delaySeconds: 10 })
  await send(arn, 'g-m3')
  expect((await queues.getWithCounts(arn))?.counts).toMatchObject({ visible: 2, delayed: 1 })
  expect(await bodies(arn, 10)).toBe('g-m1 g-m2')
})

test('[174] a handle is refused when its time is over, by ack and by change of visibility', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 5 })
  await send(arn, 'g-m1')
  const [old] = await receive(arn, 1)
  await skew(6_000)
  const expired = [{ ok: false, error: 'expired_receipt_handle' }]
  expect(await ack(arn, old)).toEqual(expired)
  expect(await hide(arn, old, 60)).toEqual(expired)
  const [fresh] = await receive(arn, 1)
  expect(await ack(arn, old)).toEqual(expired)
  expect(await hide(arn, old, 0)).toEqual(expired)
  expect(await ack(arn, fresh)).toEqual([{ ok: true }])
  expect(await ack(arn, fresh)).toEqual([{ ok: true }])
  expect(await hide(arn, fresh, 0)).toEqual([{ ok: false, error: 'message_not_available' }])
  expect((await queues.getWithCounts(arn))?.oldestSince).toBeNull()
})

test('[173] extensions end 12 hours after the receive', async () => {
  const arn = await aQueue()
  await send(arn, 'g-m1')
  const [message] = await receive(arn, 1, 43_000)
  await fixture.skew(10 * 3_600_000)
  expect(await hide(arn, message, 2 * 3_600 - 5)).toEqual([{ ok: true }])
  expect(await hide(arn, message, 2 * 3_600 + 5)).toEqual([{ ok: false, error: 'visibility_limit_exceeded' }])
})

test('[176][177][178] an exhausted message moves to the FIFO dead-letter queue, then the next of its group comes', async () => {
  const { queues, skew } = fixture
  const dlq = await aQueue({ retentionSeconds: 3_600 })
  const redrivePolicy = { deadLetterTargetArn: dlq, maxReceiveCount: 2 }
  const arn = await aQueue({ redrivePolicy, visibilityTimeoutSeconds: 1 })
  const [sent] = await send(arn, 'g-m1 g-m2')
  expect(await bodies(arn, 1)).toBe('g-m1')
  await skew(2_000)
  expect(await bodies(arn, 1)).toBe('g-m1')
  await skew(1_800_000)
  expect(await receive(arn, 10)).toMatchObject([{ body: 'g-m2', receiveCount: 1 }])
  await skew(1_800_000 + 3_599_000)
  const [dead] = await receive(dlq, 10)
  expect(dead).toMatchObject({
    messageId: sent?.messageId,
    body: 'g-m1',
    groupId: 'g',
    deduplicationId: sent?.messageId,
    receiveCount: 3,
    deadLetterSourceArn: arn,
  })
  await skew(1_800_000 + 3_601_000)
  expect((await queues.getWithCounts(dlq))?.oldestSince).toBeNull()
})

test('exhausted messages of a group move together, in order', async () => {
  const dlq = await aQueue()
  const redrivePolicy = { deadLetterTargetArn: dlq, maxReceiveCount: 1 }
  const arn = await aQueue({ redrivePolicy })
  await send(arn, 'g-m1 h-m1 g-m2 g-m3 g-m4')
  expect(await bodies(arn, 3, 0)).toBe('g-m1 g-m2 g-m3')
  expect(await bodies(arn, 10)).toBe('h-m1 g-m4')
  expect(await bodies(dlq, 10)).toBe('g-m1 g-m2 g-m3')
})

test('without the dead-letter queue, an exhausted message keeps its place', async () => {
  const dlq = await aQueue()
  const redrivePolicy = { deadLetterTargetArn: dlq, maxReceiveCount: 1 }
  const arn = await aQueue({ redrivePolicy })
  await fixture.queues.delete(dlq)
  await send(arn, 'g-m1 g-m2')
  await receive(arn, 1, 0)
  expect(await bodies(arn, 10)).toBe('g-m1 g-m2')
})

test('a receive attempt repeated within 5 minutes has the same messages and handles, hidden again', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 30 })
  await send(arn, 'g-m1 g-m2 h-m1')
  const attempt = { maxMessages: 10, attemptId: 'a' }
  const first = await queues.receive(arn, attempt)
  await skew(20_000)
  expect(await queues.receive(arn, attempt)).toEqual(first)
  await skew(40_000)
  expect(await queues.receive(arn, { ...attempt, attemptId: 'b' })).toEqual([])
  expect(await ack(arn, ...first)).toEqual([{ ok: true }, { ok: true }, { ok: true }])
})

test('an attempt whose messages were changed cannot be repeated; one whose time is over is a new one', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ visibilityTimeoutSeconds: 30 })
  await send(arn, 'g-m1 g-m2')
  const attempt = { maxMessages: 10, attemptId: 'a' }
  const first = await queues.receive(arn, attempt)
  await skew(31_000)
  const second = await queues.receive(arn, attempt)
  expect(second.map((m) => [m.body, m.receiveCount])).toEqual([
    ['g-m1', 2],
    ['g-m2', 2],
  ])
  expect(second.map(handle)).not.toEqual(first.map(handle))
  const [, m2] = second
  await hide(arn, m2, 60)
  await expect(queues.receive(arn, attempt)).rejects.toMatchObject({ name: 'AttemptChangedError' })
  await ack(arn, ...second)
  await expect(queues.receive(arn, attempt)).rejects.toMatchObject({ code: 'conflict' })
  await skew(31_000 + 300_001)
  await send(arn, 'g-m3')
  expect(await queues.receive(arn, attempt)).toMatchObject([{ body: 'g-m3' }])
})

test('an attempt that found nothing may find something when it is repeated', async () => {
  const arn = await aQueue()
  const attempt = { maxMessages: 1, attemptId: 'a' }
  expect(await fixture.queues.receive(arn, attempt)).toEqual([])
  await send(arn, 'g-m1')
  expect(await fixture.queues.receive(arn, attempt)).toMatchObject([{ body: 'g-m1' }])
})

test('an item with an id of its own is stored once and takes one sequence number', async () => {
  const { queues } = fixture
  const arn = await aQueue({ contentBasedDeduplication: false })
  const item = { id: randomUUID(), body: 'x', groupId: 'g' }
  const [first] = await queues.send(arn, [item])
  expect(await queues.send(arn, [item])).toEqual([{ ...first, duplicate: true }])
  await ack(arn, ...(await receive(arn, 10)))
  expect(await queues.send(arn, [item])).toEqual([{ messageId: item.id, duplicate: true }])
  const [next] = await queues.send(arn, [{ ...item, id: randomUUID() }])
  expect(next?.sequenceNumber).toBe('10000000000000000002')
  const twice = { ...item, deduplicationId: 'd' }
  await queues.send(arn, [
    { ...twice, id: randomUUID() },
    { ...twice, id: randomUUID() },
  ])
  expect((await receive(arn, 10)).length).toBe(2)
})

test('[155] dead letters of one message keep its group and deduplication id, and are no copies', async () => {
  const { queues } = fixture
  const arn = await aQueue({ contentBasedDeduplication: false })
  const message = { ...aMessage(), groupId: 'orders', deduplicationId: 'd' }
  const letters = [aDeadLetter({ message }), aDeadLetter({ message }), aDeadLetter()]
  const items = letters.map((deadLetter) => ({ id: randomUUID(), body: 'dead', deadLetter }))
  await queues.send(arn, items)
  const received = await receive(arn, 10)
  expect(received.map((m) => [m.messageId, m.groupId, m.deduplicationId])).toEqual([
    [items[0]?.id, 'orders', 'd'],
    [items[1]?.id, 'orders', 'd'],
    [items[2]?.id, items[2]?.id, items[2]?.id],
  ])
  expect((await queues.deadLetterCounts(arn)).byReason).toEqual({ permanent: 3 })
})

test('counts show visible, in flight and delayed messages, and blocked groups', async () => {
  const { queues } = fixture
  const arn = await aQueue()
  await send(arn, 'g1-m1 g1-m2 g1-m3 g2-m1 g3-m1')
  const counts = async () => (await queues.getWithCounts(arn))?.counts
  expect(await counts()).toEqual({ visible: 5, inFlight: 0, delayed: 0, groupsInFlight: 0 })
  const received = await receive(arn, 4)
  expect(await counts()).toEqual({ visible: 1, inFlight: 4, delayed: 0, groupsInFlight: 2 })
  await ack(arn, ...received)
  expect(await counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0, groupsInFlight: 0 })
})

test('at the bound of messages in flight a FIFO queue returns nothing and says nothing', async () => {
  const arn = await aQueue()
  const bounded = new Queues(fixture.redis, { inFlightMax: 3 })
  await send(arn, 'g1-m1 g1-m2 g2-m1 g3-m1')
  const received = await bounded.receive(arn, { maxMessages: 10 })
  expect(received.map((m) => m.body)).toEqual(['g1-m1', 'g1-m2', 'g2-m1'])
  const second = await bounded.receiveOnce(arn, { maxMessages: 10 })
  expect(second).toMatchObject({ messages: [], overLimit: false })
  expect(second.nextVisibleInMs).toBeGreaterThan(25_000)
  await ack(arn, received[2])
  expect(await bounded.receive(arn, { maxMessages: 10 })).toMatchObject([{ body: 'g3-m1' }])
})

test('a message deleted by id, and one whose retention is over, clears the way for its group', async () => {
  const { queues, skew } = fixture
  const arn = await aQueue({ retentionSeconds: 60, visibilityTimeoutSeconds: 1_000 })
  const [m1] = await send(arn, 'g-m1 h-m1')
  await receive(arn, 1)
  await skew(30_000)
  await send(arn, 'g-m2 h-m2')
  await queues.deleteMessage(arn, m1?.messageId ?? '')
  expect(await bodies(arn, 1)).toBe('h-m1')
  expect(await bodies(arn, 1)).toBe('g-m2')
  await skew(61_000)
  expect(await queues.sweep()).toBe(1)
  expect(await bodies(arn, 10)).toBe('h-m2')
})

test('a deleted FIFO queue leaves no key but those that go by themselves within 5 minutes', async () => {
  const own = await startQueues()
  try {
    const { queues, redis } = own
    const arn = newFifoArn()
    await queues.put(arn, { contentBasedDeduplication: true })
    const items = Array.from({ length: 1_100 }, (_, i) => ({ body: `m${i}`, groupId: `g${i % 50}` }))
    await queues.send(arn, items)
    await queues.receive(arn, { maxMessages: 10, attemptId: 'a' })
    await queues.delete(arn)
    expect(await own.keys()).toEqual([])
    const left = (await redis.keys('*')).filter((key) => !key.endsWith(':skew'))
    const lives = await Promise.all(left.map((key) => redis.pttl(key)))
    expect(Math.min(...lives)).toBeGreaterThan(0)
    expect(Math.max(...lives)).toBeLessThanOrEqual(300_000)
  } finally {
    await own.stop()
  }
})
