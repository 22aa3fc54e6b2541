/** Erasures of customers from one outcome log, of which each replaces the log. */
import { createMessageId } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { outcomeLogKey } from '../keys/keys.ts'
import { bundlesOf, entriesIn, pack } from '../outcomes/outcome-bundles.ts'
import { eraseFromLog } from './erase-log.ts'

const { redis } = await useRedis()
const LOG = outcomeLogKey(0)
const OWNERS = ['acme', 'hooli', 'stays'] as const

async function append(owner: string): Promise<void> {
  const entries: Buffer[][] = [[]]
  pack(entries, `["l","${owner}",0]`, createMessageId(Date.now()))
  const [bundle] = bundlesOf(entries[0] ?? [])
  if (bundle) await redis.xadd(LOG, '*', 'n', String(bundle.entries), 'p', bundle.bundle)
}

async function counts(): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  const bundles = (await redis.xrangeBuffer(LOG, '-', '+')) as unknown as [Buffer, Buffer[]][]
  for (const [, [, , , bundle = Buffer.alloc(0)]] of bundles) {
    for (const { text } of entriesIn(bundle)) {
      const owner = OWNERS.find((name) => text.includes(name)) ?? 'unknown'
      found[owner] = (found[owner] ?? 0) + 1
    }
  }
  return found
}

test('two erasures at once, while entries are added, lose no entry of others and keep none of theirs', async () => {
  for (let i = 0; i < 700; i++) await append(OWNERS[i % 3] ?? '')
  const isOf = (owner: string) => (_kind: string, name: string) => name === owner
  const writing = (async () => {
    for (let i = 0; i < 50; i++) await append('stays')
  })()
  const erased = await Promise.all([eraseFromLog(redis, isOf('acme')), eraseFromLog(redis, isOf('hooli'))])
  await writing
  expect(erased).toEqual([234, 233])
  expect(await counts()).toEqual({ stays: 283 })
  expect((await redis.keys(`${LOG}*kept*`)).length).toBe(0)
  expect(await redis.ttl(LOG)).toBe(-1)
})

test('a run that ends because memory is full leaves no copy, and the next one erases', async () => {
  await redis.del(LOG)
  for (let i = 0; i < 300; i++) await append(i === 0 ? 'acme' : 'stays')
  let asked = 0
  const fills = (_kind: string, name: string) => {
    asked++
    if (asked === 250) void redis.config('SET', 'maxmemory', '1mb')
    return name === 'acme'
  }
  await expect(eraseFromLog(redis, fills)).rejects.toThrow('OOM')
  expect((await redis.keys(`${LOG}*kept*`)).length).toBe(0)
  await redis.config('SET', 'maxmemory', '0')
  expect(await eraseFromLog(redis, fills)).toBe(1)
  expect(await counts()).toEqual({ stays: 299 })
})
