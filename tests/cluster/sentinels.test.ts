/** A master that dies and is replaced by Sentinels while messages are on their way. */
import { OWN_FORMAT, Processes } from '@fantail/store'
import { canSpawnRedis, waitFor } from '@fantail/test-kit'
import { test as anyTest, expect } from 'vitest'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { retries } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const test = anyTest.skipIf(!canSpawnRedis())

const PER_SECOND = 20
const SECONDS = 8

const stack = useStack({
  place: 'sentinels',
  workers: 2,
  redis: { appendfsync: 'always' },
  // Sentinels may promote either replica, even one that has not received everything.
  env: { FANTAIL_MIN_REPLICAS: '2' },
})
const receiver = useReceiver()

test('the master is killed under load: the ledger balances', async () => {
  const { sentinels } = stack().place
  if (!sentinels) throw new Error('no Sentinels')
  let answers = 0
  receiver().respond('/flaky', () => ({ status: answers++ % 2 === 0 ? 503 : 200 }))
  receiver().respond('/refuses', { status: 404 })
  const ledger = await Ledger.open({
    stack: stack(),
    acknowledgedOnly: true,
    receiver: receiver(),
    topic: 'watched',
    deadLetterQueue: 'watched-dead',
    subscriptions: { '/refuses': {}, '/steady': {}, '/flaky': { deliveryPolicy: retries(20) } },
  })
  const master = await sentinels.master()
  const publishing = ledger.publishAtRate({ count: SECONDS * PER_SECOND, perSecond: PER_SECOND })
  await waitFor(() => ledger.count('accepted') >= 2 * PER_SECOND)
  await master.kill()
  await waitFor(async () => (await sentinels.master()) !== master, { timeoutMs: 20_000 })
  // Publishing continues when there are two replicas again.
  await sentinels.rejoin(master)
  await publishing
  // On a busy machine Sentinels may fail over a second time. They need ten seconds to turn a living master into a
  // replica.
  await waitFor(async () => (await ledger.publish(`again-${performance.now()}`)) === 'accepted', {
    timeoutMs: 40_000,
  })
  const account = await ledger.whenSettled({ timeoutMs: 40_000 })
  console.info(`Sentinel failover: ${JSON.stringify(account)}`)
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0 })
  expect(account.accepted).toBeGreaterThan(2 * PER_SECOND)
  for (const service of stack().services()) await waitFor(() => service.isReady(), { timeoutMs: 10_000 })
  // Reports go on, and the format is there, so that no process has ended.
  const { connection } = stack()
  const listed = async () => (await new Processes(connection).list()).processes.length
  await waitFor(async () => (await listed()) === stack().services().length, {
    what: 'a report of each process',
  })
  expect((await new Processes(connection).list()).data?.format).toBe(OWN_FORMAT.newest)
}, 120_000)
