/** Several processes ask for ports at once. Several servers are started at the same port. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { canSpawnRedis, freePort, startReceiver, startRedis, type TestRedis } from '../index.ts'
import { atFreePort } from './ports.ts'

const PROCESSES = 6
/** More than one block holds. */
const PORTS_EACH = 150
const SERVERS = 8
/** Linux gives outgoing connections ports from this one on. */
const OUTGOING_FIRST = 32_768

const PORTS = fileURLToPath(new URL('ports.ts', import.meta.url))
const ASK = `
import { freePort } from ${JSON.stringify(PORTS)}
const ports = []
while (ports.length < ${PORTS_EACH}) ports.push(await freePort())
console.log(JSON.stringify(ports))
process.stdin.resume()
`

const servers: TestRedis[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))

test('no two living processes get the same port, and none gets one of outgoing connections', async () => {
  const asked = await Promise.all(Array.from({ length: PROCESSES }, askForPorts))
  for (const { end } of asked) end()
  const ports = asked.flatMap(({ ports }) => ports)

  expect(new Set(ports).size).toBe(PROCESSES * PORTS_EACH)
  expect(Math.max(...ports)).toBeLessThan(OUTGOING_FIRST)
})

test.skipIf(!canSpawnRedis())(
  'servers that start at the same port at once end at ports of their own',
  async () => {
    const first = await freePort()
    const choices = Array<number>(SERVERS).fill(first)
    const choose = async () => choices.pop() ?? (await freePort())
    const start = (port: number) => startRedis({ spawned: true, port })
    const started = await Promise.all(Array.from({ length: SERVERS }, () => atFreePort(start, choose)))
    servers.push(...started)

    expect(new Set(started.map(({ port }) => port)).size).toBe(SERVERS)
    expect(await Promise.all(started.map(processAt))).toEqual(started.map((server) => server.pid()))
  },
)

test.skipIf(!canSpawnRedis())('a server whose port another one has is refused, with its log', async () => {
  const server = await startRedis({ spawned: true })
  servers.push(server)

  await expect(startRedis({ spawned: true, port: server.port })).rejects.toThrow(/Address already in use/i)
})

test('a receiver keeps its port from other tests while it is closed', async () => {
  const first = await startReceiver()
  await first.close()
  const others = await Promise.all(Array.from({ length: 20 }, freePort))
  const second = await startReceiver({ port: first.port })
  await second.close()

  expect(others).not.toContain(first.port)
})

/** Starts a process that takes ports and keeps them until it ends. */
async function askForPorts(): Promise<{ ports: number[]; end(): void }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', ASK], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const line of child.stdout) return { ports: JSON.parse(String(line)), end: () => child.kill() }
  throw new Error('a process ended without ports')
}

/** The process id of the server that answers at this port. */
async function processAt({ port }: TestRedis): Promise<number> {
  const client = new Redis(port, '127.0.0.1')
  const info = await client.info('server')
  client.disconnect()
  return Number(/process_id:(\d+)/.exec(info)?.[1])
}
