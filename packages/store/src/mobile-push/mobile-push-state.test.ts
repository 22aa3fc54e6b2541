import { SNAPSHOT_AGE_MS_MAX } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { BriefReads } from './mobile-push-state.ts'

function create() {
  const state = { now: 0, enabled: true, reads: 0, fails: false }
  const reads = new BriefReads(
    async () => {
      state.reads++
      if (state.fails) throw new Error('no Redis')
      return state.enabled
    },
    () => state.now,
  )
  return { state, reads }
}

test('one read serves all attempts of a moment, and a change shows after it', async () => {
  const { state, reads } = create()
  expect(await Promise.all([reads.get('a'), reads.get('a')])).toEqual([true, true])
  state.enabled = false
  state.now = SNAPSHOT_AGE_MS_MAX - 1
  expect(await reads.get('a')).toBe(true)
  expect(state.reads).toBe(1)
  state.now = SNAPSHOT_AGE_MS_MAX
  expect(await reads.get('a')).toBe(false)
  expect(SNAPSHOT_AGE_MS_MAX).toBeLessThan(100)
})

test('a change of this process shows at once', async () => {
  const { state, reads } = create()
  await reads.get('a')
  state.enabled = false
  reads.forget('a')
  expect(await reads.get('a')).toBe(false)
})

test('a failed read is not kept, and records have reads of their own', async () => {
  const { state, reads } = create()
  state.fails = true
  await expect(reads.get('a')).rejects.toThrow('no Redis')
  state.fails = false
  expect(await reads.get('a')).toBe(true)
  await reads.get('b')
  expect(state.reads).toBe(3)
})
