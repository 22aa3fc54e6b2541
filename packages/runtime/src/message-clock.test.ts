import { connect, type Redis } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { createRedisClock } from './message-clock.ts'

const { redis } = await useRedis({ connect })

test('shows the time of Redis, not this machine’s', async () => {
  const ahead = {
    status: 'ready' as const,
    time: async () => {
      const [seconds = 0, microseconds = 0] = (await redis.time()).map(Number)
      return [seconds + 3_600, microseconds]
    },
    on: () => ahead,
    off: () => ahead,
  } as unknown as Parameters<typeof createRedisClock>[0]
  const clock = createRedisClock(ahead)
  await waitFor(() => Math.abs(clock.now() - Date.now() - 3_600_000) < 1_000, { what: 'the clock to be set' })
  expect(Number.isInteger(clock.now())).toBe(true)
  clock.stop()
})

test('runs on this machine’s clock until Redis has answered', () => {
  const clock = createRedisClock({
    ...redis,
    status: 'connecting',
    on: () => redis,
    off: () => redis,
  } as unknown as Redis)
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
  clock.stop()
})
