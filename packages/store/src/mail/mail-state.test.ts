import type { KeyObject } from 'node:crypto'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connect, MailState, Suppressions } from '../index.ts'
import { suppressedAddressesKey, suppressionsKey } from '../keys/keys.ts'

const { redis } = await useRedis({ connect })
const problems: unknown[] = []
const state = () =>
  new MailState(redis, { clock: () => 1_790_000_000_000, onProblem: (error) => void problems.push(error) })

const textOf = (key: KeyObject) => key.export().toString('hex')

beforeEach(async () => {
  await redis.flushall()
  problems.length = 0
})

test('every process signs links with the same key, also after a restart', async () => {
  const keys = await Promise.all([state(), state(), state()].map((process) => process.linkKey()))
  const one = state()
  const texts = [...keys, await one.linkKey(), await one.linkKey()].map(textOf)
  expect(new Set(texts).size).toBe(1)
  expect(keys[0]?.symmetricKeySize).toBe(32)
})

test.each([
  ['a part of one', () => redis.set('ft:{mail}:links', 'dGhl')],
  ['a text with another character', () => redis.set('ft:{mail}:links', `${'A'.repeat(42)}!=`)],
  ['of the wrong type', () => redis.hset('ft:{mail}:links', 'a', 'b')],
])('a stored key of links that is %s is replaced once', async (_, damage) => {
  await damage()
  const key = await state().linkKey()
  expect(key.symmetricKeySize).toBe(32)
  expect(textOf(await state().linkKey())).toBe(textOf(key))
})

test('processes share the rate of a domain, and each domain has its own', async () => {
  const [one, other] = [state(), state()]
  const startedAt = performance.now()
  const taken = await Promise.all(
    Array.from({ length: 30 }, (_, n) => (n % 2 ? one : other).takeOfDomain('a.example', 20)),
  )
  // Only the mails of one second are allowed at once, and the mails that become allowed while the test runs.
  const granted = taken.filter((waitMs) => waitMs === 0).length
  expect(granted).toBeGreaterThanOrEqual(20)
  expect(granted).toBeLessThanOrEqual(21 + (20 * (performance.now() - startedAt)) / 1_000)
  expect(Math.max(...taken)).toBeLessThanOrEqual(51)
  expect(await one.takeOfDomain('b.example', 20)).toBe(0)
})

test('an address that a server does not know is suppressed with its words', async () => {
  await state().suppress('ada@example.com', '550 5.1.1 no such user')
  expect([
    await state().isSuppressed('ada@example.com'),
    await state().isSuppressed('eve@example.com'),
  ]).toEqual([true, false])
  expect(await new Suppressions(redis).get('ada@example.com')).toEqual({
    address: 'ada@example.com',
    reason: 'bounce',
    detail: '550 5.1.1 no such user',
    suppressedAt: 1_790_000_000_000,
  })
  expect(problems).toEqual([])
})

test('a full memory is reported, and does not reject', async () => {
  await redis.config('SET', 'maxmemory', '1')
  try {
    await state().suppress('ada@example.com', 'x')
    expect(problems).toHaveLength(1)
    expect(await state().takeOfDomain('a.example', 20)).toBe(0)
    expect((await state().linkKey()).symmetricKeySize).toBe(32)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
})

test('an address that is removed leaves nothing behind', async () => {
  const list = new Suppressions(redis)
  await state().suppress('ada@example.com', 'x')
  expect([await list.remove('ada@example.com'), await list.remove('ada@example.com')]).toEqual([true, false])
  expect(await redis.exists(suppressionsKey(), suppressedAddressesKey())).toBe(0)
})
