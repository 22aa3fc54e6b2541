import { skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connectSubscriber, WAKE_CREDENTIALS, whenReady } from '../index.ts'
import { CREDENTIALS_BASE, credentialKey } from '../keys/keys.ts'
import { Credentials } from './own-credentials.ts'

const { server, redis } = await useRedis()
const PROBE_EVERY_MS = 60_000
const NAME = 'smtp:mail.example:25'
/** Two workers, with one object each. */
const [one, other] = [new Credentials(redis), new Credentials(redis)]
let aheadMs = 0
beforeEach(async () => {
  aheadMs = 0
  await redis.flushall()
})

async function later(ms: number) {
  aheadMs += ms
  await redis.set(skewKey(CREDENTIALS_BASE), aheadMs)
}

test('a credential that never failed works, and leaves no key', async () => {
  expect(await one.ask(NAME)).toBe('works')
  expect(await redis.keys('*')).toEqual([])
})

test('a broken one is probed once a minute, whoever asks', async () => {
  expect(await one.broke(NAME, '535 refused')).toBe(true)
  expect(await other.broke(NAME, '535 refused')).toBe(false)
  const first = await other.ask(NAME)
  expect(first).toEqual({ waitMs: expect.any(Number) })
  expect((first as { waitMs: number }).waitMs).toBeGreaterThan(PROBE_EVERY_MS - 5_000)
  for (let minute = 0; minute < 3; minute++) {
    await later(PROBE_EVERY_MS)
    const asked = await Promise.all([one, other, one, other].map((worker) => worker.ask(NAME)))
    expect(asked.filter((state) => state === 'probe')).toHaveLength(1)
  }
  expect(await one.ask('another')).toBe('works')
})

test('it works once an attempt succeeded, and the workers are notified once', async () => {
  const subscriber = connectSubscriber({ url: server.url, name: 'test' })
  const heard: string[] = []
  subscriber.on('message', (_, text: string) => heard.push(text))
  await whenReady(subscriber)
  await subscriber.subscribe(WAKE_CREDENTIALS)
  await one.broke(NAME, 'expired')
  expect([await other.worked(NAME), await one.worked(NAME)]).toEqual([true, false])
  expect(await one.ask(NAME)).toBe('works')
  await one.broke(NAME, 'expired')
  await one.worked(NAME)
  await expect.poll(() => heard).toEqual([NAME, NAME])
  subscriber.disconnect()
})

test('a clock that is set back holds up no probe', async () => {
  await later(1_000_000)
  await one.broke(NAME, 'refused')
  await later(-1_000_000)
  expect(await one.ask(NAME)).toBe('probe')
  expect(await one.ask(NAME)).toEqual({ waitMs: expect.any(Number) })
})

test('a credential that nobody asks for any more is forgotten', async () => {
  await one.broke(NAME, 'refused')
  const ttlMs = await redis.pttl(credentialKey(NAME))
  expect(ttlMs).toBeGreaterThan(9 * PROBE_EVERY_MS)
  expect(ttlMs).toBeLessThanOrEqual(10 * PROBE_EVERY_MS)
})
