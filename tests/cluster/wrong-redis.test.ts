/**
 * Settings that name another kind of Redis than the one that answers. Every process prints the error in one line, and
 * exits with 1.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canSpawnRedis, freePort, startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, test as anyTest, beforeAll, expect } from 'vitest'
import { launcher } from '../harness/services/service-bundles.ts'
import { type ServiceName, ServiceProcess } from '../harness/services/service-process.ts'

const test = anyTest.skipIf(!canSpawnRedis())

const BIN = launcher()
const SERVICES: ServiceName[] = ['publish-api', 'delivery-worker', 'redrive']
const TELLING = ['warn', 'error', 'fatal']

let plain: TestRedis
let node: TestRedis
let dataDir: string
const started: ServiceProcess[] = []

const startNode = async (port?: number) => {
  const args = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]
  return await startRedis({ spawned: true, args, ...(port === undefined ? {} : { port }) })
}

beforeAll(async () => {
  if (!canSpawnRedis()) return
  dataDir = await mkdtemp(join(tmpdir(), 'fantail-data-'))
  plain = await startRedis({ spawned: true })
  node = await startNode()
})

afterEach(async () => {
  await Promise.all(started.splice(0).map((service) => service.stop()))
})

afterAll(async () => {
  await Promise.all([plain?.stop(), node?.stop()])
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

const local = () => ({
  FANTAIL_MODE: 'local',
  FANTAIL_PORT: '0',
  FANTAIL_OPS_PORT: '0',
  FANTAIL_DATA_DIR: dataDir,
})
const at = ({ port }: { port: number }) => `127.0.0.1:${port}`

function service(name: ServiceName, env: Record<string, string>): ServiceProcess {
  const made = new ServiceProcess(name, name, { ...local(), ...env })
  started.push(made)
  return made
}

/** The exit code of a service that ends by itself, and its log lines above level info. */
async function ended(one: ServiceProcess) {
  await waitFor(() => !one.running, { what: `${one.label} to end`, timeoutMs: 30_000 })
  const lines = one.logLines().filter(({ level }) => TELLING.includes(level) || level === 'raw')
  return { code: await one.stop(), lines: lines.filter(({ msg }) => msg !== 'redis.down') }
}

test.each(SERVICES)('%s recognises each kind and ends', async (name) => {
  const cases = [
    [{ REDIS_URL: node.url }, 'set REDIS_CLUSTER_NODES'],
    [{ REDIS_CLUSTER_NODES: at(plain) }, 'set REDIS_URL'],
  ] as const
  for (const [env, words] of cases) {
    const one = service(name, env)
    // It may listen for a moment.
    await one.start({ untilReady: false }).catch(() => undefined)
    const { code, lines } = await ended(one)
    expect([code, lines]).toEqual([
      1,
      [expect.objectContaining({ level: 'fatal', msg: `${name}.failed`, err: expect.anything() })],
    ])
    expect(JSON.stringify(lines[0]?.err)).toContain(words)
  }
})

test('the API answers 503 while Redis is away, and ends where it turns out to be a cluster’s node', async () => {
  const port = await freePort()
  const api = service('publish-api', { REDIS_URL: `redis://127.0.0.1:${port}` })
  await api.start({ untilReady: false })
  expect((await fetch(`${api.url}/v1/topics`)).status).toBe(503)
  expect(api.logLines()).toContainEqual(
    expect.objectContaining({
      msg: 'redis.awaited',
      detail: expect.stringContaining('Redis does not answer'),
    }),
  )
  const late = await startNode(port)
  try {
    const { code, lines } = await ended(api)
    expect([code, lines.at(-1)?.msg]).toEqual([1, 'publish-api.failed'])
    expect(JSON.stringify(lines.at(-1))).toContain('REDIS_CLUSTER_NODES')
  } finally {
    await late.stop()
  }
})

test.each(['delivery-worker', 'redrive'] as const)(
  '%s stops cleanly while it waits for Redis',
  async (name) => {
    const one = service(name, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })
    await one.start({ untilReady: false })
    expect(await one.stop()).toBe(0)
  },
)

test('a master that Sentinels do not know is waited for, and reported once', async () => {
  const env = { REDIS_SENTINELS: `${at(plain)},${at(node)}`, REDIS_SENTINEL_NAME: 'main' }
  const worker = service('delivery-worker', env)
  await worker.start({ untilReady: false })
  const told = () => worker.logLines().filter(({ msg }) => msg === 'redis.misnamed')
  await waitFor(() => told().length === 2)
  expect(JSON.stringify(told())).toMatch(/REDIS_SENTINELS names .* no Sentinel/)
  expect([await worker.stop(), worker.running]).toEqual([0, false])
})

interface Ran {
  code: number
  stderr: string
}

function fantail(words: string[], env: Record<string, string>): Promise<Ran> {
  const options = { env: { PATH: process.env.PATH, ...local(), ...env } }
  return new Promise((resolve) => {
    execFile(process.execPath, [BIN, ...words], options, (error, _, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stderr }),
    )
  })
}

test('so do the command lines', async () => {
  const [asOne, asNodes] = [{ REDIS_URL: node.url }, { REDIS_CLUSTER_NODES: at(plain) }]
  const key = { FANTAIL_MASTER_KEY: '0'.repeat(64) }
  const runs: [Promise<Ran>, string][] = [
    [fantail(['keys', 'list'], asOne), 'fantail keys: REDIS_URL names a node of a Redis Cluster'],
    [fantail(['keys', 'list'], asNodes), `fantail keys: REDIS_CLUSTER_NODES names ${at(plain)}`],
    [fantail(['secrets', 'reseal'], { ...asOne, ...key }), 'fantail secrets: REDIS_URL names a node'],
    [fantail(['move', '--from', node.url, '--to', at(node)], {}), 'fantail move: the source is a node of'],
    [fantail(['move', '--from', plain.url, '--to', node.url], {}), 'fantail move: the target is a node of'],
  ]
  for (const [run, words] of runs) {
    const { code, stderr } = await run
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
})
