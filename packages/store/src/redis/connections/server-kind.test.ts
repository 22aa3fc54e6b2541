/**
 * At the start, the server must be of the kind that the settings name, or an error says so. A silent server is waited
 * for.
 */
import type { RedisTarget } from '@fantail/contracts'
import {
  canSpawnRedis,
  freePort,
  startRedis,
  startSentinels,
  type TestRedis,
  type TestSentinels,
  waitFor,
} from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, test as anyTest, beforeAll, expect } from 'vitest'
import { connect, whenReady } from './connect.ts'
import { WrongRedisError, whenServerChecked } from './server-kind.ts'

const test = anyTest.skipIf(!canSpawnRedis())

let plain: TestRedis
let node: TestRedis
let sentinels: TestSentinels
const opened: Redis[] = []

beforeAll(async () => {
  if (!canSpawnRedis()) return
  plain = await startRedis({
    spawned: true,
    args: ['--slowlog-log-slower-than', '0', '--slowlog-max-len', '10000'],
  })
  node = await startRedis({
    spawned: true,
    args: ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())],
  })
  sentinels = await startSentinels({ replicas: 0 })
}, 60_000)

afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect()
})

afterAll(async () => {
  await Promise.all([plain?.stop(), node?.stop(), sentinels?.stop()])
})

function check(target: RedisTarget, signal?: AbortSignal) {
  const problems: string[] = []
  const downs: (Error | undefined)[] = []
  const redis = connect({ url: target, name: 'test', onState: (_, error) => downs.push(error) })
  opened.push(redis)
  const onProblem = ({ message }: Error) => problems.push(message)
  return { redis, problems, downs, reached: whenServerChecked({ redis, target, onProblem, signal }) }
}

const at = ({ port }: { port: number }) => ({ host: '127.0.0.1', port })
const nodes = (...servers: { port: number }[]) => ({ nodes: servers.map(at) })
const nowhere = async () => ({ port: await freePort() })
const sentinel = () => ({ port: sentinels.target.sentinels[0]?.port ?? 0 })

/** How often the server was asked for its kind, by its slow log. */
async function looksAt({ url }: TestRedis): Promise<number> {
  const redis = connect({ url, name: 'test' })
  opened.push(redis)
  await whenReady(redis)
  const entries = (await redis.call('SLOWLOG', 'GET', '-1')) as unknown[]
  return entries.filter((entry) => /setname.*fantail-start/i.test(String(entry))).length
}

test('a single Redis, and a master that Sentinels know, are reached', async () => {
  await check(plain.url).reached
  const { reached, problems } = check(sentinels.target)
  await reached
  expect(problems).toEqual([])
})

test.each<[string, () => RedisTarget, string]>([
  ['a node of a cluster by REDIS_URL', () => node.url, 'set REDIS_CLUSTER_NODES to some of its nodes'],
  ['a Sentinel by REDIS_URL', () => `redis://127.0.0.1:${sentinel().port}`, 'set REDIS_SENTINELS and'],
  ['a plain Redis by REDIS_CLUSTER_NODES', () => nodes(plain), 'cluster mode is off: set REDIS_URL'],
  ['a Sentinel by REDIS_CLUSTER_NODES', () => nodes(sentinel()), 'a Sentinel: set REDIS_SENTINELS and'],
])('%s is refused', async (_, target, words) => {
  const { reached } = check(target())
  const error = await reached.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(WrongRedisError)
  expect(String(error)).toContain(words)
})

test('the cluster’s nodes that answer decide', async () => {
  await expect(check(nodes(await nowhere(), plain)).reached).rejects.toThrow(`127.0.0.1:${plain.port}`)
  const giveUp = new AbortController()
  const { reached } = check(nodes(plain, node), giveUp.signal)
  const { reached: refused } = check(nodes(plain))
  await expect(refused).rejects.toThrow('REDIS_CLUSTER_NODES')
  giveUp.abort()
  await expect(reached).rejects.toThrow('aborted')
})

test('a Redis that is away is waited for, and then looked at', async () => {
  const late = { port: await freePort() }
  const [one, some] = [check(`redis://127.0.0.1:${late.port}`), check(nodes(late))]
  const refused = expect(some.reached).rejects.toThrow('REDIS_URL')
  await waitFor(() => one.downs.length > 0 && some.downs.length > 0)
  const server = await startRedis({ spawned: true, port: late.port })
  try {
    await Promise.all([one.reached, refused])
  } finally {
    await server.stop()
  }
})

test('the reason why Sentinels name no master is logged once, and waited for', async () => {
  const giveUp = new AbortController()
  const before = await looksAt(plain)
  const unknown = check({ ...sentinels.target, name: 'other' }, giveUp.signal)
  const others = check({ sentinels: [await nowhere(), plain, node].map(at), name: 'x' }, giveUp.signal)
  await waitFor(() => unknown.problems.length > 0 && others.problems.length > 0)
  await waitFor(async () => (await looksAt(plain)) >= before + 2, { what: 'a second look' })
  expect(unknown.problems).toEqual([expect.stringContaining(`no master 'other': see REDIS_SENTINEL_NAME`)])
  expect(others.problems).toEqual([
    `REDIS_SENTINELS names 127.0.0.1:${plain.port}, a Redis and no Sentinel`,
    `REDIS_SENTINELS names 127.0.0.1:${node.port}, a node of a Redis Cluster and no Sentinel`,
  ])
  expect(unknown.downs.map((error) => error?.message)).toEqual(['no Sentinel names a master'])
  expect(String(others.downs[0]?.cause)).toContain('unknown command')
  const ended = Promise.allSettled([unknown.reached, others.reached])
  giveUp.abort()
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
