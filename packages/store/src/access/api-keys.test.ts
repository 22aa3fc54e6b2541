import type { ApiKeyRecord } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { ApiKeys, connect, KeyLimits, WAKE_CHANGES, whenReady } from '../index.ts'
import { API_KEYS_BASE, apiKeysKey } from '../keys/keys.ts'

const { server, redis } = await useRedis({ connect })
const keys = new ApiKeys(redis)
beforeEach(() => redis.flushall())

function record(n: number, account = '000000000000'): ApiKeyRecord {
  return {
    id: `FK${'ABCDEFGH'[n]?.repeat(18)}`,
    kind: 'native',
    name: `key ${n}`,
    account,
    scopes: ['publish'],
    prefixes: [],
    maxRequestsPerSecond: null,
    createdAt: 1,
    secretHash: '00',
  }
}

test('a key is kept until it is revoked, and its id is taken meanwhile', async () => {
  const key = record(0)
  await keys.create(key)
  expect(await keys.get(key.id)).toEqual(key)
  await expect(keys.create(key)).rejects.toMatchObject({ code: 'conflict' })
  expect([await keys.revoke(key.id), await keys.revoke(key.id)]).toEqual([true, false])
  expect([await keys.get(key.id), await keys.count(), await redis.keys('*')]).toEqual([null, 0, []])
})

test('a key whose record was changed gives no rights, and can be revoked', async () => {
  const { id } = record(0)
  await keys.create(record(0))
  const stored = (await redis.hget(apiKeysKey(), id)) ?? ''
  for (const changed of [stored.replace('"publish"', '"manage"'), stored.slice(0, 9)]) {
    await redis.hset(apiKeysKey(), id, changed)
    await expect(keys.get(id)).rejects.toThrow('unreadable JSON')
    expect((await keys.list({ limit: 10 })).items).toEqual([])
  }
  expect([await keys.revoke(id), await redis.keys('*')]).toEqual([true, []])
})

test('an invalid id names no key', async () => {
  expect([await keys.get('records'), await keys.revoke('x')]).toEqual([null, false])
})

test('a list is sorted by account and id, of one account or of all', async () => {
  for (const [n, account] of [
    [2, '000000000000'],
    [1, '222222222222'],
    [0, '000000000000'],
  ] as const) {
    await keys.create(record(n, account))
  }
  const names = async (options: object) =>
    (await keys.list({ limit: 10, ...options })).items.map((k) => k.name)
  expect(await names({})).toEqual(['key 0', 'key 2', 'key 1'])
  expect(await names({ account: '222222222222' })).toEqual(['key 1'])
  const { nextCursor } = await keys.list({ account: '000000000000', limit: 1 })
  expect(await names({ account: '000000000000', cursor: nextCursor })).toEqual(['key 2'])
})

test('making and revoking are announced', async () => {
  const subscriber = connect({ url: server.url, name: 'subscriber', commandTimeoutMs: null })
  await whenReady(subscriber)
  const heard: string[] = []
  subscriber.on('message', (_channel, id: string) => heard.push(id))
  await subscriber.subscribe(WAKE_CHANGES)
  const { id } = record(0)
  await keys.create(record(0))
  await keys.revoke(id)
  await expect.poll(() => heard).toEqual([id, id])
  subscriber.disconnect()
})

test('a bucket gives a second’s worth at once and then fills at its rate', async () => {
  const limits = new KeyLimits(redis)
  const take = (ratePerSecond: number, wanted: number) =>
    limits.take({ keyId: `FK${ratePerSecond}`, ratePerSecond, wanted })
  expect((await take(100_000, 4)).given).toBe(4)
  expect((await take(1, 20)).given).toBe(1)
  const none = await take(1, 20)
  expect(none.given).toBe(0)
  expect(none.nextInMs).toBeGreaterThan(0)
  expect(none.nextInMs).toBeLessThanOrEqual(1_000)
  await redis.set(`${API_KEYS_BASE}skew`, 1_000)
  expect((await take(1, 20)).given).toBe(1)
})

test('after a clock was set back, no caller is refused for long', async () => {
  const limits = new KeyLimits(redis)
  const take = () => limits.take({ keyId: 'FKX', ratePerSecond: 1, wanted: 1 })
  await redis.set(`${API_KEYS_BASE}skew`, 3_600_000)
  expect((await take()).given).toBe(1)
  await redis.del(`${API_KEYS_BASE}skew`)
  expect((await take()).given).toBe(1)
})

test.each([
  ['damaged', () => redis.setrange('ft:{keys}:cursors', 3, '~')],
  ['of another type', () => redis.pipeline().del('ft:{keys}:cursors').rpush('ft:{keys}:cursors', 'x').exec()],
])('a key of cursors that is %s is replaced once', async (_, damage) => {
  const offers = ['a', 'b', 'c'].map((letter) => `${letter.repeat(43)}=`) as [string, string, string]
  expect([await keys.cursorKey(offers[0]), await keys.cursorKey(offers[1])]).toEqual([offers[0], offers[0]])
  await damage()
  expect([await keys.cursorKey(offers[2]), await keys.cursorKey(offers[1])]).toEqual([offers[2], offers[2]])
})
