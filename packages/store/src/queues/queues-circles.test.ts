/**
 * Queues that are each other's dead-letter queue, as SQS allows. A message that moves between them again and again is
 * neither lost nor doubled.
 */
import { randomUUID } from 'node:crypto'
import { crashing } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { readScript, runScript } from '../redis/scripts.ts'
import { atQueue } from './items/queue-records.ts'
import { newArn, newFifoArn, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const fixture = await useQueues()
afterEach(() => fixture.skew(0))

const one = { maxMessages: 1, visibilityTimeoutSeconds: 1 }

async function aCircle(fifo: boolean): Promise<[string, string]> {
  const [a, b] = fifo ? [newFifoArn('a'), newFifoArn('b')] : [newArn('a'), newArn('b')]
  await fixture.queues.put(a, {})
  await fixture.queues.put(b, { redrivePolicy: { deadLetterTargetArn: a, maxReceiveCount: 1 } })
  await fixture.queues.put(a, { redrivePolicy: { deadLetterTargetArn: b, maxReceiveCount: 1 } })
  return [a, b]
}
const idsIn = async (arn: string) =>
  (await fixture.queues.peek(arn, { limit: 10 })).items.map(({ messageId }) => messageId)

test.each([
  ['standard', false],
  ['FIFO', true],
])('a message of a circle of %s queues stays one, however often it goes round', async (_, fifo) => {
  const { queues, skew } = fixture
  const [a, b] = await aCircle(fifo)
  const id = randomUUID()
  await queues.send(a, [{ id, body: 'round', ...(fifo && { groupId: 'g' }) }])
  for (let times = 1; times <= 3; times++) {
    expect(await queues.receive(a, one)).toMatchObject([{ messageId: id, receiveCount: 2 * times - 1 }])
    await skew((4 * times - 2) * 1_000)
    expect(await queues.receive(a, one)).toEqual([])
    expect([await idsIn(a), await idsIn(b)]).toEqual([[], [id]])
    expect(await queues.receive(b, one)).toMatchObject([{ messageId: id, receiveCount: 2 * times }])
    await skew(4 * times * 1_000)
    expect(await queues.receive(b, one)).toEqual([])
    expect([await idsIn(a), await idsIn(b)]).toEqual([[id], []])
  }
})

test.each([
  ['standard', false],
  ['FIFO', true],
])(
  'a message that comes back to its queue in a circle of %s before its move has ended is kept',
  async (_, fifo) => {
    const { queues, redis, skew } = fixture
    const [a, b] = await aCircle(fifo)
    const id = randomUUID()
    await queues.send(a, [{ id, body: 'round', ...(fifo && { groupId: 'g' }) }])
    await queues.receive(a, one)
    await skew(2_000)
    // The first mover has appended the item, and has not ended the move.
    const slow = new Queues(crashing(redis, (script) => script === 'settle-moves-1'))
    await expect(slow.receive(a, one)).rejects.toThrow('crashed')
    await queues.receive(b, one)
    await skew(4_000)
    await queues.receive(b, one)
    expect([await idsIn(a), await idsIn(b)]).toEqual([[id], []])
    const end = readScript('settle-moves-1')
    expect(await runScript(redis, end, { ...atQueue(a), forgets: true, moves: [{ id, count: 1 }] })).toBe(0)
    expect(await idsIn(a)).toEqual([id])
    expect(await queues.receive(a, one)).toMatchObject([{ messageId: id, receiveCount: 3 }])
    await skew(6_000)
    await queues.receive(a, one)
    expect([await idsIn(a), await idsIn(b)]).toEqual([[], [id]])
  },
)

test.each([
  ['standard', newArn],
  ['FIFO', newFifoArn],
])('a mover of a %s queue that ends late takes nothing from the one after it', async (_, arnOf) => {
  const { queues, redis, skew } = fixture
  const arn = arnOf()
  await queues.put(arn, {})
  await queues.put(arn, { redrivePolicy: { deadLetterTargetArn: arn, maxReceiveCount: 1 } })
  const id = randomUUID()
  await queues.send(arn, [{ id, body: 'round', ...(arn.endsWith('.fifo') && { groupId: 'g' }) }])
  await queues.receive(arn, one)
  await skew(2_000)
  const late = new Queues(crashing(redis, (script) => script === 'settle-moves-1'))
  await expect(late.receive(arn, one)).rejects.toThrow('crashed')
  await queues.receive(arn, one)
  await skew(4_000)
  // The second mover has read the item, and has appended nothing yet.
  const second = new Queues(crashing(redis, (script) => script === 'send-messages-1'))
  await second.receive(arn, one).catch(() => [])
  const end = readScript('settle-moves-1')
  expect(await runScript(redis, end, { ...atQueue(arn), forgets: true, moves: [{ id, count: 1 }] })).toBe(0)
  await skew(20_000)
  await queues.sweep()
  expect(await queues.receive(arn, one)).toMatchObject([{ messageId: id }])
})
