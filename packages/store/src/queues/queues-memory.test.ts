import { expect, test } from 'vitest'
import { newArn, newFifoArn, useQueues } from './queues.fixture.ts'

/**
 * Just below a power of two, hash tables are well filled, and just above it they are half empty. This number is in
 * between.
 */
const MESSAGES = 12_000
const CHUNK = 1_000
const BODY_BYTES = 100

const fixture = await useQueues()

async function usedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await fixture.redis.info('memory'))?.[1])
}

/** Bytes of a message in addition to its body: in the queue, and for 5 minutes for its deduplication. */
async function bytesPerMessage(
  arn: string,
  groups: number,
): Promise<{ kept: number; deduplication: number }> {
  const { queues, redis } = fixture
  await queues.put(arn, arn.endsWith('.fifo') ? { contentBasedDeduplication: true } : {})
  const before = await usedBytes()
  for (let i = 0; i < MESSAGES; i += CHUNK) {
    const items = Array.from({ length: CHUNK }, (_, n) => ({
      body: String(i + n).padStart(BODY_BYTES, '.'),
      ...(groups > 0 && { groupId: `g${(i + n) % groups}` }),
    }))
    await queues.send(arn, items)
  }
  const whole = await usedBytes()
  const copies = await redis.keys('*:d:*')
  for (let i = 0; i < copies.length; i += CHUNK) await redis.unlink(...copies.slice(i, i + CHUNK))
  const kept = await usedBytes()
  return {
    kept: Math.round((kept - before) / MESSAGES) - BODY_BYTES,
    deduplication: Math.round((whole - kept) / MESSAGES),
  }
}

test('the memory of a waiting message beside its body is bounded, in a standard and in a FIFO queue', async () => {
  const standard = await bytesPerMessage(newArn(), 0)
  const few = await bytesPerMessage(newFifoArn(), 100)
  const many = await bytesPerMessage(newFifoArn(), MESSAGES)
  expect(standard.kept).toBeLessThanOrEqual(730)
  expect(Math.max(few.kept, many.kept)).toBeLessThanOrEqual(1_000)
  expect(Math.max(few.deduplication, many.deduplication)).toBeLessThanOrEqual(260)
  expect(standard.deduplication).toBeLessThanOrEqual(5)
})
