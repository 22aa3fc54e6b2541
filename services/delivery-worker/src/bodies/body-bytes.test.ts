/**
 * Bytes of messages in flight. They are bounded, and a shared message counts once. Hanging attempts never hold all of
 * them.
 */
import { createMessageId } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { FreedCapacity } from '../capacity/freed-capacity.ts'
import { MessageContext } from '../messages/message-context.ts'
import { BodyBytes, bytesOf } from './body-bytes.ts'

const message = () =>
  new MessageContext({
    messageId: createMessageId(1),
    topicArn: 'arn',
    publishedAt: 1,
    message: 'x'.repeat(10_000),
  })
const ONE = bytesOf(message())

/** Capacity for ten messages. */
const create = (freed = new FreedCapacity()) => new BodyBytes({ bytesMax: 10 * ONE, freed })

/** Holds messages until the capacity is used up. */
function fill(bytes: BodyBytes, proven: boolean) {
  const all = []
  for (let bodies = bytes.tryHold(message(), proven); bodies; bodies = bytes.tryHold(message(), proven))
    all.push(bodies)
  return all
}

test('proven endpoints have all of it, the others half', () => {
  expect([fill(create(), true).length, fill(create(), false).length]).toEqual([10, 5])
})

test('a message that many deliveries share counts once, until the last of them ends', () => {
  const bytes = create()
  const shared = message()
  const holders = Array.from({ length: 1_000 }, () => bytes.tryHold(shared, true))
  expect(bytes.bytes).toBe(ONE)
  for (const bodies of holders.splice(1)) bodies?.release()
  expect(bytes.bytes).toBe(ONE)
  holders[0]?.release()
  holders[0]?.release()
  expect(bytes.bytes).toBe(0)
})

test('hanging attempts leave half to the proven endpoints', () => {
  const bytes = create()
  for (const bodies of fill(bytes, true)) bodies.hang()
  expect(bytes.hasCapacity(false)).toBe(false)
  expect(fill(bytes, true)).toHaveLength(5)
  expect(bytes.bytes).toBe(15 * ONE)
})

test('freed bytes are announced when an attempt ends, hangs, or a load is over', () => {
  const freed = new FreedCapacity()
  const bytes = create(freed)
  let announced = 0
  freed.notify({ capacityFreed: () => void announced++ })
  const bodies = fill(bytes, true)
  bodies[0]?.release()
  bodies[1]?.hang()
  bytes.load().end()
  expect(announced).toBe(3)
})

test('bodies that are being loaded count for other loads and for takes', () => {
  const bytes = create()
  const loading = bytes.load()
  expect(bytes.attemptsLeft(true)).toBeGreaterThan(10)
  for (let i = 0; i < 10; i++) loading.add(message())
  expect([loading.hasCapacity, bytes.load().hasCapacity, bytes.attemptsLeft(true)]).toEqual([false, false, 0])
  loading.end()
  expect([bytes.load().hasCapacity, bytes.bytes]).toEqual([true, 0])
})

test('attempts that are left are as many as are like those there are', () => {
  const bytes = create()
  bytes.tryHold(message(), true)
  bytes.tryHold(message(), true)
  expect(bytes.attemptsLeft(true)).toBe(8)
})
