import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { ping } from './connect.ts'

test('a failed ping says what Redis has answered', async () => {
  const refusal = new Error('MISCONF Redis is configured to save RDB snapshots, but cannot persist on disk')
  const redis = { status: 'ready', ping: () => Promise.reject(refusal) } as unknown as Redis
  await expect(ping(redis)).rejects.toBe(refusal)
})
