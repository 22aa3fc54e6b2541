/** Behaviour of every service at its start and stop, shown with an invented service. */
import { fileURLToPath } from 'node:url'
import { connect, dataFormatKey, Processes, whenReady } from '@fantail/store'
import { freePort, startRedis, waitFor } from '@fantail/test-kit'
import { expect, onTestFinished, test } from 'vitest'
import { useSpawned } from './spawned-process.fixture.ts'

const MADE_UP = fileURLToPath(new URL('./made-up-service.fixture.ts', import.meta.url))

const spawned = useSpawned()
const start = (redisPort: number) =>
  spawned([MADE_UP], { REDIS_URL: `redis://127.0.0.1:${redisPort}`, FANTAIL_OPS_PORT: '0' })

/** A Redis with a client. Both end with the test. */
async function ownRedis() {
  const redis = await startRedis({ spawned: true })
  const client = connect({ url: redis.url, name: 'test' })
  onTestFinished(async () => {
    client.disconnect()
    await redis.stop()
  })
  await whenReady(client)
  return { client, port: Number(new URL(redis.url).port) }
}

test('it answers for its health while it waits for Redis, becomes ready, and ends in order', async () => {
  const redisPort = await freePort()
  const service = start(redisPort)
  const { port } = await service.logged('ops.listening')
  const readiness = async (): Promise<{ checks: Record<string, string> }> =>
    (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()) as { checks: Record<string, string> }
  expect(await readiness()).toMatchObject({ checks: { start: 'still starting' } })
  expect(await service.logged('begun')).toMatchObject({ service: 'made-up', files: 'a file' })
  const redis = await startRedis({ port: redisPort, spawned: true })
  await waitFor(async () => (await readiness()).checks.start === 'ok', { what: 'the service to be ready' })
  // This Redis stores nothing on disk.
  expect(await readiness()).toMatchObject({ status: 'degraded', checks: { redis: 'ok', start: 'ok' } })
  const client = connect({ url: redis.url, name: 'test' })
  await whenReady(client)
  const processes = new Processes(client)
  const listed = async () => (await processes.list()).processes
  await waitFor(async () => (await listed()).length > 0, { what: 'the first report' })
  const { pid } = service.child
  expect(await listed()).toMatchObject([{ role: 'made-up', pid, slots: null, load: expect.any(Number) }])
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect(service.events().slice(-3)).toEqual(['made-up.stopping', 'drained', 'made-up.stopped'])
  expect(await listed()).toEqual([])
  client.disconnect()
  await redis.stop()
})

test('it says once that processes of the other mode use its Redis', async () => {
  const { client, port: redisPort } = await ownRedis()
  const processes = new Processes(client)
  const known = {
    role: 'delivery-worker',
    version: '1.2.3',
    commit: 'c0ffee',
    host: 'h',
    pid: 7,
    slots: null,
  }
  const sample = { startedAt: '2026-11-21T09:30:00.000Z', load: 0, lagMs: 0 }
  await processes.report({ id: 'other', mode: 'server', ...known, ...sample })
  const service = start(redisPort)
  expect(await service.logged('redis.modes_mixed')).toMatchObject({ mode: 'local', others: 1 })
  const { port } = await service.logged('ops.listening')
  expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()).toMatchObject({
    degraded: expect.arrayContaining([expect.objectContaining({ reason: 'modes_mixed' })]),
  })
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})

test('it ends before it touches data that a newer release has made, with a code that asks for no restart', async () => {
  const { client, port: redisPort } = await ownRedis()
  const data = '{"format":2,"capabilities":{"packed":1},"pending":{}}'
  await client.set(dataFormatKey(), data)
  const service = start(redisPort)
  expect(await service.ended).toBe(78)
  const { err } = await service.logged('made-up.failed')
  expect(err).toMatchObject({
    message: expect.stringMatching(/have format 2, and this release reads format 1; it does not know packed/),
  })
  expect(await client.keys('*')).toEqual([dataFormatKey()])
  expect(await client.get(dataFormatKey())).toBe(data)
})

test('it ends when something takes effect that it does not know, and may be started again', async () => {
  const { client, port: redisPort } = await ownRedis()
  const service = start(redisPort)
  await service.logged('made-up.started')
  await client.set(dataFormatKey(), '{"format":1,"capabilities":{"packed":1},"pending":{}}')
  expect(await service.ended).toBe(1)
  expect(service.events().at(-1)).toBe('made-up.failed')
})

test('it leaves at once when it is told to stop before Redis has ever answered', async () => {
  const service = start(await freePort())
  await service.logged('begun')
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect(service.events().slice(-2)).toEqual(['made-up.stopping', 'made-up.stopped'])
})

test('it drains at once when Redis does not answer any more', async () => {
  const { client, port: redisPort } = await ownRedis()
  const service = start(redisPort)
  await service.logged('made-up.started')
  await client.call('CLIENT', 'PAUSE', '10000', 'ALL')
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  const events = service.events()
  expect(events[events.indexOf('made-up.stopping') + 1]).toBe('drained')
})
