import { mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import type { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect, dispatchJobKey, whenReady } from '../index.ts'
import { archivesKey, roleKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { Processes } from '../processes/processes.ts'
import { keepRole } from '../redis/leader.ts'
import {
  ARCHIVED_FOR_MS,
  ARCHIVED_ROLE,
  DataLossError,
  refuseDataLoss,
  StorageHealthReader,
} from './storage-health.ts'

// The tests turn the append-only file on and off. A busy disk may keep Redis longer than a command's usual time-out.
const patient: typeof connect = (options) => connect({ ...options, commandTimeoutMs: null })
const { redis, server } = await useRedis({ connect: patient, args: ['--maxmemory', '64mb'] })
let lines: Record<string, unknown>[]

beforeEach(() => {
  lines = []
})

afterEach(async () => {
  await configure({ 'maxmemory-policy': 'noeviction', save: '', appendonly: 'no' })
})

async function configure(settings: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await redis.config('SET', name, value)
}

const reader = (options: { redis?: Redis; minReplicas?: number; mode?: 'local' | 'server' } = {}) =>
  new StorageHealthReader({ redis, mode: 'server', minReplicas: 0, ...options })

/** Throws the error that would end a process at its start. */
function start(mode: 'local' | 'server', allowVolatileRedis = false, health = reader()): Promise<void> {
  const log = { warn: (fields: object, event: string) => void lines.push({ ...fields, event }) }
  return refuseDataLoss({ health, log, settings: { mode, allowVolatileRedis } })
}

const risks = async (options = {}) => (await reader(options).read()).risks

test('a Redis that keeps nothing over a restart is refused in server mode, unless a setting allows it', async () => {
  const refusal = await start('server').catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(DataLossError)
  expect(String(refusal)).toContain('keeps nothing over a restart: set appendonly yes')
  expect(String(refusal)).toContain('FANTAIL_ALLOW_VOLATILE_REDIS=true')
  await start('server', true)
  expect(lines).toEqual([
    { event: 'redis.volatile', risks: ['no_persistence'], detail: expect.stringContaining('appendonly') },
  ])
})

test('one line says it in local mode', async () => {
  await configure({ 'maxmemory-policy': 'allkeys-lru' })
  await start('local')
  expect(lines).toEqual([
    {
      event: 'redis.volatile',
      risks: ['eviction', 'no_persistence'],
      detail: expect.stringContaining('maxmemory-policy is allkeys-lru'),
    },
  ])
})

test('an eviction policy is refused where everything is persisted, too', async () => {
  await configure({ 'maxmemory-policy': 'volatile-ttl', appendonly: 'yes' })
  await expect(start('server')).rejects.toThrow('maxmemory-policy is volatile-ttl')
})

test.each([
  ['an append-only file', { appendonly: 'yes' }, 0],
  ['save points', { save: '60 1' }, 0],
  ['replicas that are waited for', {}, 1],
])('%s is enough', async (_, settings, minReplicas) => {
  await configure(settings)
  const health = reader({ minReplicas })
  await start('server', false, health)
  expect([lines, (await health.read()).risks]).toEqual([[], []])
})

test('a forbidden CONFIG gives a warning for what cannot be seen, and INFO still counts', async () => {
  await redis.call('ACL', 'SETUSER', 'managed', 'on', 'nopass', '~*', '&*', '+@all', '-config')
  const managed = patient({ url: server.url.replace('://', '://managed:any@'), name: 'test' })
  try {
    await whenReady(managed)
    await start('server', false, reader({ redis: managed }))
    expect(lines).toEqual([
      { event: 'redis.volatile', risks: ['unseen'], detail: expect.stringContaining('CONFIG is forbidden') },
    ])
    await configure({ appendonly: 'yes' })
    expect(await risks({ redis: managed })).toEqual([])
    await configure({ 'maxmemory-policy': 'allkeys-random' })
    await expect(start('server', false, reader({ redis: managed }))).rejects.toThrow('allkeys-random')
  } finally {
    managed.disconnect()
  }
})

test('memory, watermark and a full Redis are told', async () => {
  await configure({ appendonly: 'yes' })
  const { memory, watermarkBytes } = await reader().read()
  expect(memory.limitBytes).toBe(64 * 1_048_576)
  expect(watermarkBytes).toBe(48 * 1_048_576)
  expect(memory.usedBytes).toBeGreaterThan(0)
  await redis.setrange('ballast', 50_000_000, 'x')
  expect(await reader().degradations()).toEqual([
    { reason: 'storage_full', message: expect.stringContaining('publishing is refused') },
  ])
  await redis.del('ballast')
})

test('a file that Redis cannot write is told until it is written, and processes start all the same', async () => {
  const [, folder = ''] = (await redis.config('GET', 'dir')) as string[]
  const tried = async (command: 'BGSAVE' | 'BGREWRITEAOF', status: string) => {
    await redis.call(command).catch(() => undefined) // Another one is running.
    return (await redis.info('persistence')).includes(status)
  }
  const whenTried = (command: 'BGSAVE' | 'BGREWRITEAOF', status: string) =>
    waitFor(() => tried(command, status), { what: status, intervalMs: 100 })
  await configure({ appendonly: 'yes' })
  const files = join(folder, 'appendonlydir')
  // While Redis writes the file again, the next name appears by itself, and the one before goes later.
  const base = await waitFor(async () => {
    const info = await redis.info('persistence')
    if (/aof_rewrite_(in_progress|scheduled):1/.test(info)) return undefined
    const bases = (await readdir(files)).filter((name) => /^appendonly.*\.base\.rdb$/.test(name))
    return bases.length === 1 ? bases[0] : undefined
  })
  // Redis renames each file to its name when it is complete. It cannot replace a folder of this name.
  const next = base.replace(/\d+/, (number) => String(Number(number) + 1))
  const obstacles = [join(folder, 'dump.rdb'), join(files, next)]
  for (const obstacle of obstacles) await mkdir(obstacle)
  await whenTried('BGSAVE', 'rdb_last_bgsave_status:err')
  await whenTried('BGREWRITEAOF', 'aof_last_bgrewrite_status:err')
  expect(await reader().degradations()).toEqual([
    { reason: 'disk', message: expect.stringContaining('rdb_last_bgsave_status, aof_last_bgrewrite_status') },
  ])
  await start('server')
  expect(lines).toMatchObject([{ event: 'redis.volatile', risks: ['disk'] }])
  for (const obstacle of obstacles) await rmdir(obstacle)
  await whenTried('BGREWRITEAOF', 'aof_last_bgrewrite_status:ok')
  await whenTried('BGSAVE', 'rdb_last_bgsave_status:ok')
  expect(await risks()).toEqual([])
})

test('Redis is asked at most once a second, and again at once after it did not answer', async () => {
  let now = 0
  let asked = 0
  const away = { isAway: true }
  const info = async () => {
    asked += 1
    if (away.isAway) throw new Error('Connection is closed.')
    return 'used_memory:1\r\nmaxmemory:100\r\naof_enabled:1\r\n'
  }
  const fake: Redis = Object.assign(Object.create(redis), { info })
  const health = new StorageHealthReader({ redis: fake, mode: 'server', minReplicas: 0, now: () => now })
  await expect(health.read()).rejects.toThrow('closed')
  away.isAway = false
  await health.read()
  const before = asked
  await Promise.all([health.read(), health.read()])
  expect(asked).toBe(before)
  now += 1_001
  await health.read()
  expect(asked).toBe(before + 3)
})

test('replicas that do not follow, and messages that no worker fetches, are degradations', async () => {
  const reasons = async () => (await reader({ minReplicas: 1 }).degradations()).map(({ reason }) => reason)
  expect(await reasons()).toEqual(['replicas_missing'])
  const queue = dispatchJobKey(1, '').slice(0, -1)
  const published = { messageId: 'm', publishedAt: Date.now() - 60_000, message: '{"publishedAt":1}' }
  await redis.hset(`${queue}:7`, { data: JSON.stringify({ v: 1, m: [published] }), timestamp: Date.now() })
  await redis.lpush(`${queue}:wait`, '7', '8')
  const { missingReplicas, dispatch } = await reader({ minReplicas: 1 }).read()
  expect([missingReplicas, dispatch.jobs, Math.round(dispatch.oldestSeconds / 10)]).toEqual([1, 2, 6])
  expect(await reasons()).toEqual(['replicas_missing', 'dispatch_behind'])
  await redis.del(`${queue}:wait`, `${queue}:7`)
})

test('processes of both modes on one Redis are a degradation for each of them, until one has left', async () => {
  await configure({ appendonly: 'yes' })
  const processes = new Processes(redis)
  const role = { role: 'delivery-worker', version: '1.2.3', commit: 'c0ffee', host: 'h', pid: 7 }
  const load = { startedAt: '2026-11-21T09:30:00.000Z', slots: null, load: 0, lagMs: 0 }
  for (const mode of ['server', 'local'] as const)
    await processes.report({ ...role, ...load, mode, id: mode })
  for (const [mode, other] of [
    ['server', 'local'],
    ['local', 'server'],
  ] as const)
    expect(await reader({ mode }).degradations()).toEqual([
      {
        reason: 'modes_mixed',
        message: expect.stringContaining(`Processes of ${other} mode use this Redis`),
      },
    ])
  await processes.end('local')
  expect(await reader().degradations()).toEqual([])
})

test('a Redis that answers slowly, and replicas that miss waits, are degradations although Redis seems well', async () => {
  const slow: Redis = Object.assign(Object.create(redis), {
    ping: () => new Promise((resolve) => setTimeout(resolve, 250)),
  })
  const health = new StorageHealthReader({
    redis: slow,
    mode: 'server',
    minReplicas: 0,
    missingReplicas: () => 1,
  })
  const reasons = (await health.degradations()).map(({ reason }) => reason)
  expect(reasons).toEqual(expect.arrayContaining(['replicas_missing', 'redis_slow']))
})

test('archives that nobody writes completely for a minute are a reason', async () => {
  const reasons = async () => (await reader().degradations()).map(({ reason }) => reason)
  await redis.sadd(archivesKey(shardBase(7)), 'uid arn')
  expect(await reasons()).toContain('archive_behind')
  for (let round = 0; round < 2; round++) await keepRole(redis, ARCHIVED_ROLE, ARCHIVED_FOR_MS)
  expect(await reasons()).not.toContain('archive_behind')
  await redis.del(archivesKey(shardBase(7)), roleKey(ARCHIVED_ROLE))
})
