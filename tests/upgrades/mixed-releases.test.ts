/**
 * Processes of this release and of the next one use the same Redis, in any order of restarts. The next release is this
 * one with one more format and capability. `npm run test:upgrades` runs the long form, in real time.
 */
import { Processes, SILENT_MS } from '@fantail/store'
import { skewKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { Seeded } from '../chaos/plan/seeded.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'
import { NEXT_FORMAT, useNextRelease } from './next-release.ts'
import { Upgrade } from './upgrade.ts'

const LONG = process.env.FANTAIL_UPGRADES_LONG === '1'
const ORDERS = LONG ? 20 : 3
const RESTARTS = LONG ? 8 : 4
/** Attempts that a killed worker had under way, and that were repeated. */
const REPEATED_MAX = 100
const STEP_MS = 20_000

/** Claims of a killed worker come back 5 s later. */
const stack = useStack({ workers: 2, redrive: true, env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '1000' } })
const receiver = useReceiver()
const next = useNextRelease()
const seed = Date.now() % 1_000_000

const inEffect = async () => (await new Processes(stack().connection).list()).data
const OLD = { format: NEXT_FORMAT.newest - 1, capabilities: [] }
const NEW = { format: NEXT_FORMAT.newest, capabilities: NEXT_FORMAT.capabilities }

test(`two releases deliver everything in any order of restarts, until the newer one is alone (seed ${seed})`, {
  timeout: LONG ? 1_800_000 : 180_000,
}, async () => {
  const seeded = new Seeded(seed)
  const upgrade = await Upgrade.open({ stack: stack(), receiver: receiver(), next: next(), seeded })
  const restarted = async (prefix: string, restarts: () => Promise<void>) => {
    const account = await upgrade.underLoad(`${prefix}-`, restarts)
    expect(account).toMatchObject({
      refused: 0,
      unknown: 0,
      lost: 0,
      deadLettered: 0,
      discarded: 0,
      expired: 0,
    })
    expect([account.quarantined, account.delivered]).toEqual([0, account.owed])
    expect(account.accepted).toBeGreaterThan(0)
    expect(account.duplicates).toBeLessThanOrEqual(upgrade.kills * REPEATED_MAX)
  }
  for (let order = 0; order < ORDERS; order++) {
    await restarted(`order-${order}`, () => upgrade.restart(RESTARTS))
    expect(await inEffect()).toEqual(OLD)
  }
  await restarted('back', () => upgrade.restartAll('this'))
  expect(await inEffect()).toEqual(OLD)
  await restarted('forth', async () => {
    await upgrade.restartAll('next')
    await takeEffect()
  })
  const [old] = stack().workers
  if (!old) throw new Error('no worker')
  await expect(upgrade.startAs(old, 'this')).rejects.toThrow(
    /have format 2, and this release reads format 1; it does not know made-up/,
  )
  expect(await old.stop()).toBe(78)
  await restarted('after', () => upgrade.startAs(old, 'next'))
  expect(await inEffect()).toEqual(NEW)
})

/** In the short form, Redis’s time goes on faster, and this process reports instead of the others. */
async function takeEffect(): Promise<void> {
  const { connection } = stack()
  const fixed = { role: 'test', mode: 'local', version: '0', commit: 'c', host: 'h', pid: 1 } as const
  const report = { id: 'test', ...fixed, startedAt: '', slots: null, load: 0, lagMs: 0 }
  const processes = new Processes(connection, NEXT_FORMAT)
  for (let at = 0; !LONG && at < 4; at++) {
    await processes.report(report)
    await connection.incrby(skewKey('ft:{processes}:'), STEP_MS)
  }
  await processes.report(report)
  await processes.end('test')
  await waitFor(async () => (await inEffect())?.format === NEXT_FORMAT.newest, {
    what: 'the next format to take effect',
    timeoutMs: 3 * SILENT_MS,
  })
}
