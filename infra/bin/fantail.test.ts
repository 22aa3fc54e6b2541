import { fileURLToPath } from 'node:url'
import { startRedis, type TestRedis, waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type DevTask, run } from '../dev/dev-task.fixture.ts'

const SERVICES = ['publish-api', 'delivery-worker', 'redrive']
const BIN = fileURLToPath(new URL('fantail.mjs', import.meta.url))

let redis: TestRedis
let task: DevTask | undefined

beforeEach(async () => {
  redis = await startRedis()
})

afterEach(async () => {
  task?.child.kill('SIGTERM')
  await task?.ended
  await redis.stop()
})

function fantail(role: string): DevTask {
  task = run(process.execPath, [BIN, role], process.cwd(), { FANTAIL_PORT: '0', REDIS_URL: redis.url })
  return task
}

/** Process ids by service, once each of them says that it has started. */
async function started(services: string[]): Promise<Map<string, number>> {
  const pids = () =>
    services.flatMap((name) => {
      const line = task?.output().match(new RegExp(`"pid":(\\d+),"msg":"${name}\\.started"`))
      return line ? [[name, Number(line[1])] as const] : []
    })
  await waitFor(() => pids().length === services.length, { what: `${services.join(', ')} to start` })
  return new Map(pids())
}

it('runs one role, and stops it cleanly', async () => {
  const { child, ended } = fantail('redrive')
  await started(['redrive'])
  child.kill('SIGTERM')

  expect(await ended).toBe(0)
  expect(task?.output()).toContain('redrive.stopped')
})

it('runs every role, and stops them all cleanly', async () => {
  const { child, ended } = fantail('all')
  await started(SERVICES)
  child.kill('SIGTERM')

  expect(await ended).toBe(0)
  for (const name of SERVICES) expect(task?.output()).toContain(`${name}.stopped`)
})

it('ends with an error when one role of all is killed, the others stopped', async () => {
  const { ended } = fantail('all')
  process.kill((await started(SERVICES)).get('delivery-worker') ?? 0, 'SIGKILL')

  expect(await ended).toBe(1)
  for (const name of ['publish-api', 'redrive']) expect(task?.output()).toContain(`${name}.stopped`)
})

it('says what its roles are', async () => {
  const { ended } = fantail('nothing')

  expect(await ended).toBe(2)
  expect(task?.output()).toBe('usage: fantail api | worker | redrive | all\n')
})
