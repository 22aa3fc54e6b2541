import { hash } from 'node:crypto'
import {
  CONFIRMATION_MAILS_PER_ADDRESS_MAX,
  CONFIRMATION_MAILS_PER_KEY_MAX,
  CONFIRMATIONS_PER_ENDPOINT_MAX,
  CONFIRMATIONS_PER_HOST_MAX,
} from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { ConfirmationLimits, connect, isOutOfMemory } from '../index.ts'
import { confirmationsKey } from '../keys/keys.ts'

const { redis } = await useRedis({ connect })
const limits = new ConfirmationLimits(redis)

const topicArn = 'arn:aws:sns:us-east-1:222222222222:spam'
const HOUR_MS = 3_600_000

test('an endpoint is asked so many times an hour for one topic, also after its subscriptions were deleted', async () => {
  const endpoint = 'https://victim.example/hook'
  const take = () => limits.take({ topicArn, endpoint })
  const waits = await Promise.all(Array.from({ length: CONFIRMATIONS_PER_ENDPOINT_MAX + 1 }, take))
  expect(waits.filter((wait) => wait === 0)).toHaveLength(CONFIRMATIONS_PER_ENDPOINT_MAX)
  const wait = await take()
  expect(wait).toBeGreaterThan(HOUR_MS - 60_000)
  expect(wait).toBeLessThanOrEqual(HOUR_MS)
  expect(await limits.take({ topicArn: `${topicArn}-2`, endpoint })).toBe(0)
  // The window would end by itself. Here the test ends the window of this scope.
  await redis.pexpire(confirmationsKey(hash('sha1', `${topicArn} ${endpoint}`)), 0)
  expect(await take()).toBe(0)
})

test('a host is asked so many times an hour for one account, over all paths and topics', async () => {
  const scope = confirmationsKey(hash('sha1', '222222222222 other.example:8443'))
  await redis.set(scope, CONFIRMATIONS_PER_HOST_MAX - 1, 'PX', HOUR_MS)
  const take = (topic: string, path: string) =>
    limits.take({ topicArn: topic, endpoint: `https://user:secret@OTHER.example:8443/${path}` })
  expect(await take(topicArn, 'a')).toBe(0)
  expect(await take(`${topicArn}-9`, 'b')).toBeGreaterThan(0)
  expect(await take('arn:aws:sns:us-east-1:333333333333:spam', 'c')).toBe(0)
})

test('an address gets three mails a day that ask it, whatever topic, account, kind and spelling', async () => {
  const take = (endpoint: string, n: number) =>
    limits.take({
      topicArn: `arn:aws:sns:us-east-1:${n}22222222222:spam-${n}`,
      endpoint,
      protocol: n % 2 === 0 ? 'email' : 'email-json',
      principal: `key-${n}`,
    })
  for (let n = 1; n <= CONFIRMATION_MAILS_PER_ADDRESS_MAX; n++)
    expect(await take('ada@example.com', n)).toBe(0)
  const wait = await take('Ada@Example.COM', 9)
  expect(wait).toBeGreaterThan(24 * HOUR_MS - 60_000)
  expect(wait).toBeLessThanOrEqual(24 * HOUR_MS)
  expect(await take('eve@example.com', 9)).toBe(0)
})

test('a key sends so many such mails a day, to all addresses', async () => {
  const principal = 'arn:aws:iam::222222222222:user/flood'
  const scope = confirmationsKey(hash('sha1', `mails of ${principal}`))
  await redis.set(scope, CONFIRMATION_MAILS_PER_KEY_MAX - 1, 'PX', HOUR_MS)
  const take = (endpoint: string) => limits.take({ topicArn, endpoint, protocol: 'email', principal })
  expect(await take('one@example.com')).toBe(0)
  expect(await take('two@example.com')).toBeGreaterThan(0)
})

test('in a full memory it fails as every write does', async () => {
  await redis.config('SET', 'maxmemory', '1')
  const taken = limits.take({ topicArn, endpoint: 'https://full.example/' })
  expect(isOutOfMemory(await taken.catch((error: unknown) => error))).toBe(true)
  await redis.config('SET', 'maxmemory', '0')
})

test('a queue counts as a host, and every count ends by itself', async () => {
  expect(await limits.take({ topicArn, endpoint: 'arn:aws:sqs:us-east-1:111111111111:victim' })).toBe(0)
  for (const key of await redis.keys('*asked:*')) expect(await redis.pttl(key)).toBeGreaterThan(0)
})
