import type { AuditLine } from '@fantail/contracts'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { auditLinesKey, auditStrangersKey } from '../keys/keys.ts'
import { AuditReader } from './audit-reader.ts'
import { AuditWriter } from './audit-writer.ts'

const { redis } = await useRedis()
const reader = new AuditReader(redis)
const states: string[] = []
beforeEach(async () => {
  await redis.flushall()
  states.length = 0
})

let now = 1_000
const writer = (own = redis) =>
  new AuditWriter({ redis: own, now: () => now++, onWrite: (state) => void states.push(state) })
const line = (n: number, set: Partial<AuditLine> = {}): AuditLine => ({
  ...{ keyId: 'FKA', account: '000000000000', action: 'DELETE /v1/topics/{topic}' },
  ...{ resource: { topic: `t${n}` }, result: 'done', status: 204, requestId: `r${n}` },
  ...set,
})
const all = () => true
const topics = async (set: object = {}) =>
  (await reader.find({ matches: all, limit: 100, ...set })).lines.map(({ resource }) => resource.topic)

test('lines of keys and strangers are read in one order, page by page, newest first', async () => {
  const trail = writer()
  for (let n = 1; n <= 7; n++) trail.add(line(n), n % 3 === 0 ? 'strangers' : 'lines')
  await trail.stop()
  expect(await redis.xlen(auditLinesKey())).toBe(5)
  expect(await redis.xlen(auditStrangersKey())).toBe(2)
  expect(await topics()).toEqual(['t7', 't6', 't5', 't4', 't3', 't2', 't1'])
  const first = await reader.find({ matches: all, limit: 3 })
  expect(first.lines.map(({ requestId }) => requestId)).toEqual(['r7', 'r6', 'r5'])
  expect(await topics({ cursor: first.nextCursor })).toEqual(['t4', 't3', 't2', 't1'])
  expect(await topics({ matches: ({ requestId }: AuditLine) => requestId === 'r2' })).toEqual(['t2'])
  await expect(reader.find({ matches: all, limit: 1, cursor: 'x' })).rejects.toThrow('cursor')
})

test('a search past many lines ends in a cursor, and strangers drive out no line of a key', async () => {
  const trail = writer()
  trail.add(line(0))
  for (let n = 1; n <= 1_900; n++) trail.add(line(n), 'strangers')
  await trail.stop()
  expect(await redis.xlen(auditStrangersKey())).toBe(1_000)
  expect((await topics({ limit: 2_000 })).at(-1)).toBe('t0')
  for (let from = 0; from < 4_500; from += 1_500) {
    const next = writer()
    for (let n = from; n < from + 1_500; n++) next.add(line(n, { keyId: 'FKB' }))
    await next.stop()
  }
  const matches = ({ keyId, resource }: AuditLine) => keyId === 'FKA' && resource.topic === 't0'
  const pages: number[] = []
  let cursor: string | null | undefined
  do {
    const page = await reader.find({ matches, limit: 10, ...(cursor && { cursor }) })
    pages.push(page.lines.length)
    cursor = page.nextCursor
  } while (cursor !== null)
  expect([pages[0], pages.length > 2, pages.reduce((sum, n) => sum + n, 0)]).toEqual([0, true, 1])
})

test('while Redis refuses, lines wait; the oldest past a bound are dropped and counted', async () => {
  let isRefusing = true
  const refusing = new Proxy(redis, {
    get: (target, name) => {
      const own = Reflect.get(target, name)
      if (typeof own !== 'function') return own
      return (...args: unknown[]) => {
        if (isRefusing && String(name).startsWith('append-audit')) return Promise.reject(new Error('LOADING'))
        return own.apply(target, args)
      }
    },
  })
  const trail = writer(refusing)
  trail.add(line(1))
  await waitFor(() => states.includes('down'), { what: 'a refused write' })
  for (let n = 2; n <= 2_011; n++) trail.add(line(n))
  isRefusing = false
  await trail.stop()
  const { lines } = await reader.find({ matches: ({ missed }) => missed !== undefined, limit: 10 })
  // The first line was in the refused batch, which is written again once.
  expect(lines).toMatchObject([{ requestId: 'r12', missed: 10 }])
  expect(await redis.xlen(auditLinesKey())).toBe(2_001)
  expect(states.at(-1)).toBe('up')
})

test('many refused changes of one key displace neither changes nor the refusals of other keys', async () => {
  const trail = writer()
  trail.add(line(1))
  trail.add(line(2, { keyId: 'FKB', result: 'denied' }), 'refused')
  for (let n = 3; n <= 12_000; n++) {
    now++
    trail.add(line(n, { keyId: 'FKC', result: 'denied' }), 'refused')
  }
  await trail.stop()
  expect((await reader.find({ matches: ({ keyId }) => keyId !== 'FKC', limit: 5 })).lines).toHaveLength(2)
  expect(await redis.xlen('ft:{audit}:refused')).toBeLessThan(100)
})
