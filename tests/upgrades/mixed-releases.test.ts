/**
 * Processes of this release and of the next one use the same Redis, in any order of restarts. The next release is this
 * one with one more format and capability. `npm run test:upgrades` runs the long form, in real time.
 */
import { Processes, SILENT_MS } from '@fantail/store'
import { skewKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { Seeded } from '../chaos/plan/seeded.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { untilPassed } from '../harness/services/passing-time.ts'
import type { ServiceProcess } from '../harness/services/service-process.ts'
import { useStack } from '../harness/services/stack.ts'
import { HASTY_SILENT_MS, NEXT_FORMAT, useReleases } from './next-release.ts'
import { expectExact, LONG, Upgrade } from './upgrade.ts'
import { watchOthers } from './watch-others.ts'

const ORDERS = LONG ? 20 : 3
const RESTARTS = LONG ? 8 : 3
const PROCESSES = 'ft:{processes}:'
const STEP_MS = 20_000

/** Claims of a killed worker come back 5 s later. */
const stack = useStack({ workers: 2, redrive: LONG, env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '1000' } })
const receiver = useReceiver()
const releases = useReleases()
const seed = Date.now() % 1_000_000

const inEffect = async () => (await new Processes(stack().connection).list()).data
const OLD = { format: NEXT_FORMAT.newest - 1, capabilities: [] }
const NEW = { format: NEXT_FORMAT.newest, capabilities: NEXT_FORMAT.capabilities }
const UNKNOWN = /have format 2, and this release reads format 1; it does not know made-up/

test(`two releases deliver everything in any order of restarts, until the newer one is alone (seed ${seed})`, {
  timeout: LONG ? 1_800_000 : 180_000,
}, async () => {
  const seeded = new Seeded(seed)
  const upgrade = await Upgrade.open({
    stack: stack(),
    receiver: receiver(),
    releases: { ...releases() },
    seeded,
  })
  const { api } = stack()
  const old = stack().worker(0)
  const mixed = await upgrade.underLoad('mixed-', async () => {
    for (let order = 0; order < ORDERS; order++) {
      await upgrade.restart(RESTARTS)
      expect(await inEffect()).toEqual(OLD)
    }
    await upgrade.bringAll('this')
  })
  expectExact(mixed)
  expect(await inEffect()).toEqual(OLD)

  await sleepThroughUpgrade(upgrade, [api, old])
  expect(await inEffect()).toEqual(NEW)

  const after = await upgrade.underLoad('after-', async () => {
    await expect(upgrade.startAs(old, 'this')).rejects.toThrow(UNKNOWN)
    expect(await old.stop()).toBe(78)
    await upgrade.bringAll('next')
  })
  expectExact(after)
  upgrade.expectRepeatsExplained()
  expect(await inEffect()).toEqual(NEW)
  expect(receiver().requestsTo(({ text }) => text === 'late')).toEqual([])
})

/** Processes of this release stand still until the newer one is alone. Then they go on, and must write nothing. */
async function sleepThroughUpgrade(upgrade: Upgrade, sleepers: ServiceProcess[]): Promise<void> {
  const { services, client, connection } = stack()
  await Promise.all(sleepers.map((service) => service.stop()))
  await upgrade.bringAll(
    'next',
    services().filter((service) => !sleepers.includes(service)),
  )
  const watch = await watchOthers(connection)
  await upgrade.bringAll('hasty', sleepers)
  const frozenAt = performance.now()
  for (const service of sleepers) service.signal('SIGSTOP')
  const late = client.call('POST', '/v1/topics/upgrade/messages', { body: { message: 'late' } })
  const answer = late.then(({ status }) => status).catch(() => 503)
  await takeEffect()
  await untilPassed(HASTY_SILENT_MS, frozenAt)
  await watch.start()
  for (const service of sleepers) service.signal('SIGCONT')
  await waitFor(() => sleepers.every((service) => !service.running), { what: 'the frozen processes to end' })
  expect(await answer).toBe(503)
  for (const service of sleepers) expect(service.logText()).toMatch(UNKNOWN)
  // TIME reads Redis's clock and no data.
  const harmless = ['ping', 'info', 'client', 'hello', 'subscribe', 'time', `script on ${PROCESSES}`]
  expect((await watch.end()).filter((line) => !harmless.includes(line))).toEqual([])
}

/** In the short form, Redis’s time goes on faster, and this process reports instead of the others. */
async function takeEffect(): Promise<void> {
  const { connection } = stack()
  const fixed = { role: 'test', mode: 'local', version: '0', commit: 'c', host: 'h', pid: 1 } as const
  const report = { id: 'test', ...fixed, startedAt: '', slots: null, load: 0, lagMs: 0 }
  const processes = new Processes(connection, NEXT_FORMAT)
  for (let at = 0; !LONG && at < 4; at++) {
    await processes.report(report)
    await connection.incrby(skewKey(PROCESSES), STEP_MS)
  }
  await processes.report(report)
  await processes.end('test')
  await waitFor(async () => (await inEffect())?.format === NEXT_FORMAT.newest, {
    what: 'the next format to take effect',
    timeoutMs: 3 * SILENT_MS,
  })
}
