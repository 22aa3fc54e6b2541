/** No key and no customer ends the sessions and links of others, however many of its own it makes. */
import type { ApiKeyRecord, PortalGrant } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { ApiKeys } from './api-keys.ts'
import { PortalSessions } from './portal-sessions.ts'
import { Sessions } from './sessions.ts'

const { redis } = await useRedis()
const portal = new PortalSessions(redis)
const sessions = new Sessions(redis)
const NOW = 1_000_000
beforeEach(() => redis.flushall())

const grantOf = (keyId: string, customer: string): PortalGrant => ({
  ...{ id: 'id', keyId, account: '000000000000', prefixes: [`${customer}-`], subscriptions: null },
  ...{ scopes: ['read'], theme: { name: null, logo: null, colour: null } },
})
let made = 0
const digestFor = (keyId: string, customer: string) => `${keyId}:${customer}:${++made}`

async function makeLinks(keyId: string, customer: string, count: number): Promise<string[]> {
  const digests = Array.from({ length: count }, () => digestFor(keyId, customer))
  await Promise.all(
    digests.map((digest, n) =>
      portal.makeLink(digest, { ...grantOf(keyId, customer), ttlSeconds: 60 }, NOW + n),
    ),
  )
  return digests
}

async function makeSessions(keyId: string, customer: string, count: number): Promise<string[]> {
  const digests = Array.from({ length: count }, () => digestFor(keyId, customer))
  const record = { ...grantOf(keyId, customer), createdAt: NOW, endsAt: NOW + 60_000 }
  await Promise.all(digests.map((digest, n) => portal.make(digest, { ...record, endsAt: NOW + 60_000 + n })))
  return digests
}

const livePortals = async () => (await portal.list()).map(({ digest }) => digest)
const customersOf = (keyId: string, count: number) => Array.from({ length: count }, (_, n) => `${keyId}${n}`)

test('a customer who makes many sessions ends only its own oldest', async () => {
  const [other = ''] = await makeSessions('FKA', 'quiet', 1)
  const own = await makeSessions('FKA', 'loud', 30)
  expect((await livePortals()).toSorted()).toEqual([other, ...own.slice(-20)].toSorted())
})

test('a key that makes many sessions and links ends only its own, of its largest customers', async () => {
  const others = await makeSessions('FKA', 'quiet', 3)
  const links = await makeLinks('FKA', 'quiet', 3)
  for (const customer of customersOf('FKB', 30)) {
    await makeSessions('FKB', customer, 20)
    await makeLinks('FKB', customer, 20)
  }
  const live = await livePortals()
  expect(live).toHaveLength(503)
  expect(live).toEqual(expect.arrayContaining(others))
  const shares = Map.groupBy(live, (digest) => digest.slice(0, digest.lastIndexOf(':')))
  expect(shares.size).toBe(31)
  expect(await Promise.all(links.map((digest) => portal.takeLink(digest)))).not.toContain(null)
})

test('past the bound of the server the key with the most sessions loses one', async () => {
  for (const keyId of ['FKB', 'FKC'])
    for (const customer of customersOf(keyId, 25)) await makeSessions(keyId, customer, 20)
  const [small = ''] = await makeSessions('FKA', 'small', 1)
  const more = await makeSessions('FKD', 'more', 20)
  const live = await livePortals()
  expect(live).toHaveLength(1_000)
  expect(live).toEqual(expect.arrayContaining([small, ...more]))
})

test('many logins with one key end no session of another key', async () => {
  const record = { csrf: 'x', createdAt: NOW, endsAt: NOW + 60_000 }
  await sessions.make('other', { ...record, keyId: 'FKA' })
  for (let n = 0; n < 210; n++)
    await sessions.make(`d${n}`, { ...record, keyId: 'FKB', endsAt: NOW + 70_000 + n })
  const live = (await sessions.list(NOW)).map(({ digest }) => digest)
  expect(live).toHaveLength(201)
  expect(live).toEqual(expect.arrayContaining(['other', 'd10', 'd209']))
})

test('a revoked key leaves no session and no link, and those of other keys stay', async () => {
  const [id, stays] = [`FK${'A'.repeat(18)}`, `FK${'B'.repeat(18)}`]
  const keys = new ApiKeys(redis)
  await keys.create({
    ...{ id, kind: 'native', name: 'x', account: '000000000000', scopes: ['manage'], prefixes: [] },
    ...{ maxRequestsPerSecond: null, createdAt: NOW, secretHash: '00' },
  } as ApiKeyRecord)
  for (const keyId of [id, stays]) {
    await sessions.make(keyId, { keyId, csrf: 'x', createdAt: NOW, endsAt: NOW + 60_000 })
    await makeSessions(keyId, 'x', 2)
    await makeLinks(keyId, 'x', 2)
  }
  expect(await keys.revoke(id)).toBe(true)
  const left = await redis.keys('*session:*')
  expect(left.filter((key) => key.includes(id))).toEqual([])
  expect(left.filter((key) => key.includes(stays))).toHaveLength(5)
  expect(await redis.zcard('ft:{portal}:links:expiry')).toBe(2)
})
