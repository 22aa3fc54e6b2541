/** Processes of the release before this one and of this one use the same Redis, in any order of restarts. */
import { beforeAll, describe, expect, test } from 'vitest'
import { Seeded } from '../chaos/plan/seeded.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'
import { earlierRelease, makeEarlier } from './earlier-release.ts'
import { expectExact, LONG, Upgrade } from './upgrade.ts'

const ORDERS = 10
const RESTARTS = 8

const commit = LONG ? await earlierRelease() : undefined
const seed = Date.now() % 1_000_000

describe.runIf(commit)('the release before this one', () => {
  const stack = useStack({ workers: 2, redrive: true, env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '1000' } })
  const receiver = useReceiver()
  let earlier = ''

  beforeAll(async () => {
    const made = await makeEarlier(commit ?? '')
    earlier = made.bundles
    return made.remove
  }, 600_000)

  test(`${commit} and this release deliver everything in any order of restarts (seed ${seed})`, async () => {
    const { services, connection } = stack()
    for (const service of services()) await service.stop()
    // The data are those of the earlier release.
    await connection.flushall()
    for (const service of services()) {
      service.bundles = earlier
      await service.start()
    }
    const upgrade = await Upgrade.open({
      ...{ stack: stack(), receiver: receiver(), releases: { earlier }, seeded: new Seeded(seed) },
      between: ['earlier', 'this'],
    })
    const account = await upgrade.underLoad('earlier-', async () => {
      for (let order = 0; order < ORDERS; order++) await upgrade.restart(RESTARTS)
      await upgrade.bringAll('this')
    })
    expectExact(account)
    upgrade.expectRepeatsExplained()
    expect(services().map(({ bundles }) => bundles)).toEqual(services().map(() => undefined))
  }, 1_800_000)
})
