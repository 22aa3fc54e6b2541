/** Masters that die while messages are under way: no acknowledged message is lost. */
import { dispatchTag, keySlot, OWN_FORMAT, Processes, shardBase, shardOf } from '@fantail/store'
import { canSpawnRedis, type TestCluster, waitFor } from '@fantail/test-kit'
import { test as anyTest, expect } from 'vitest'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { retries } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const test = anyTest.skipIf(!canSpawnRedis())

const PER_SECOND = 20
const SECONDS = 8

const stack = useStack({
  place: 'cluster',
  workers: 2,
  redis: { appendfsync: 'always' },
  env: { FANTAIL_MIN_REPLICAS: '1' },
})
const receiver = useReceiver()

function cluster(): TestCluster {
  const { cluster } = stack().place
  if (!cluster) throw new Error('not a cluster')
  return cluster
}

test('a master is killed under load: the ledger balances', async () => {
  const flaky = { deliveryPolicy: retries(20) }
  let answers = 0
  receiver().respond('/flaky', () => ({ status: answers++ % 2 === 0 ? 503 : 200 }))
  receiver().respond('/refuses', { status: 404 })
  const ledger = await Ledger.open({
    stack: stack(),
    acknowledgedOnly: true,
    receiver: receiver(),
    topic: 'failover',
    deadLetterQueue: 'failover-dead',
    subscriptions: {
      '/refuses': {},
      '/steady': {},
      '/flaky': flaky,
      '/paced': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1_000 } } },
    },
  })
  // The master of the lanes, which also has one of the dispatch queues.
  const slot = keySlot(shardBase(shardOf('arn:aws:sns:us-east-1:000000000000:failover')))
  const master = await cluster().masterOf(slot)
  const publishing = ledger.publishAtRate({ count: SECONDS * PER_SECOND, perSecond: PER_SECOND })
  await waitFor(() => ledger.count('accepted') >= 2 * PER_SECOND)
  await master.kill()
  await waitFor(async () => (await cluster().masterOf(slot)) !== master, { timeoutMs: 15_000 })
  await master.restart()
  await publishing
  await waitFor(async () => (await ledger.publish(`again-${performance.now()}`)) === 'accepted', {
    timeoutMs: 15_000,
  })
  const account = await ledger.whenSettled({ timeoutMs: 40_000 })
  console.info(`failover: ${JSON.stringify(account)}`)
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0 })
  expect(account.accepted).toBeGreaterThan(2 * PER_SECOND)
  expect(account.deadLettered).toBeGreaterThanOrEqual(account.accepted)
  for (const service of stack().services()) await waitFor(() => service.isReady(), { timeoutMs: 10_000 })
  // Reports go on, and the format is there, so that no process has ended.
  const { connection } = stack()
  const listed = async () => (await new Processes(connection).list()).processes.length
  await waitFor(async () => (await listed()) === stack().services().length, {
    what: 'a report of each process',
  })
  expect((await new Processes(connection).list()).data?.format).toBe(OWN_FORMAT.newest)
}, 90_000)

test('each dispatch queue is on another master', async () => {
  const masters = await Promise.all(
    [0, 1, 2].map((number) => cluster().masterOf(keySlot(`{${dispatchTag(number)}}`))),
  )
  expect(new Set(masters).size).toBe(3)
})

test('a failover takes one log line per change of state, not thousands', () => {
  for (const service of stack().services()) {
    // Each dead letter causes a warning, which has nothing to do with the failover.
    const told = service
      .logLines()
      .filter(({ level, msg }) => level === 'error' || (level === 'warn' && msg !== 'delivery.dead_lettered'))
    for (const [msg, lines] of Map.groupBy(told, ({ msg }) => msg))
      expect([service.label, msg, lines.length < 30]).toEqual([service.label, msg, true])
  }
})
