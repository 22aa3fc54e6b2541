/** The worker's slabs for small buffers. A slab that one buffer keeps must not be much larger than a few bodies. */
import { expect, onTestFinished, test } from 'vitest'
import { useSmallSlabs } from './buffer-pool.ts'

const BODY_BYTES = 1_400
const KEPT = 1_000

/** Bytes of memory that the buffers keep, with the rest of their slabs. */
const keptBy = (buffers: Buffer[]) =>
  [...new Set(buffers.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0)

test('a body that stays in use keeps few other bodies in memory', () => {
  const before = Buffer.poolSize
  onTestFinished(() => {
    Buffer.poolSize = before
  })
  useSmallSlabs()
  // The first bodies may still come from a slab of the earlier size.
  for (let used = 0; used < before; used += BODY_BYTES) Buffer.allocUnsafe(BODY_BYTES)
  const kept = Array.from({ length: KEPT }, () => {
    for (let n = 1; n < 10; n++) Buffer.allocUnsafe(BODY_BYTES)
    return Buffer.allocUnsafe(BODY_BYTES)
  })
  expect(keptBy(kept)).toBeLessThan(KEPT * 6 * BODY_BYTES)
})
