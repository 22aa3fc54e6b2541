/** Queues that are each other's dead-letter queue, as SQS allows: what goes round and round is never lost, nor doubled. */
import { randomUUID } from 'node:crypto'
import { crashing } from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { newArn, newFifoArn, type QueueFixture, startQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'
import { readScript, runScript } from './scripts.ts'
import { shardBase, shardOf } from './shards.ts'

let fixture: QueueFixture
beforeAll(async () => {
  fixture = await startQueues()
})
afterEach(() => fixture.skew(0))
afterAll(() => fixture.stop())

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
  expect(await queues.receive(a, one)).toMatchObject([{ messageId: id }])
  await skew(2_000)
  for (let times = 0; times < 3; times++) {
    await queues.receive(a, one)
    expect([await idsIn(a), await idsIn(b)]).toEqual([[], [id]])
    await queues.receive(b, one)
    expect([await idsIn(a), await idsIn(b)]).toEqual([[id], []])
  }
})

test.each([
  ['standard', false],
  ['FIFO', true],
])('one of a circle of %s queues that comes back before its move has ended is kept', async (_, fifo) => {
  const { queues, redis, skew } = fixture
  const [a, b] = await aCircle(fifo)
  const id = randomUUID()
  await queues.send(a, [{ id, body: 'round', ...(fifo && { groupId: 'g' }) }])
  await queues.receive(a, one)
  await skew(2_000)
  // Of the first mover the append is done, and its end still to come.
  const slow = new Queues(crashing(redis, (script) => script === 'settle-moves-1'))
  await expect(slow.receive(a, one)).rejects.toThrow('crashed')
  await queues.receive(b, one)
  expect([await idsIn(a), await idsIn(b)]).toEqual([[id], []])
  const end = readScript('settle-moves-1')
  expect(await runScript(redis, end, [shardBase(shardOf(a))], [a, 'forget', id])).toBe(0)
  expect(await idsIn(a)).toEqual([id])
  await queues.receive(a, one)
  expect([await idsIn(a), await idsIn(b)]).toEqual([[], [id]])
})
