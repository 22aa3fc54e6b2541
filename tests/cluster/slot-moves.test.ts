/** Slots that move to another master while messages are on their way. */
import { dispatchTag, isTrouble, keySlot, Lanes, shardBase, shardOf } from '@fantail/store'
import { canSpawnRedis, waitFor } from '@fantail/test-kit'
import { test as anyTest, expect } from 'vitest'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { retries } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const test = anyTest.skipIf(!canSpawnRedis())

const PER_SECOND = 30
const SECONDS = 8
const ROUNDS = 3
const NOTHING = { lanesMax: 1, deliveriesMax: 0, leaseMs: 1_000, limits: new Map(), othersMax: 0, logsMax: 0 }

const stack = useStack({ place: 'cluster', workers: 2 })
const receiver = useReceiver()

test('slots of lanes and of dispatch queues are moved under load: the ledger balances', async () => {
  const { cluster } = stack().place
  if (!cluster) throw new Error('not a cluster')
  let answers = 0
  receiver().respond('/flaky', () => ({ status: answers++ % 2 === 0 ? 503 : 200 }))
  const paced = (rate: number) => ({ deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: rate } } })
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'moved',
    subscriptions: { '/steady': {}, '/flaky': { deliveryPolicy: retries(30) }, '/paced': paced(100) },
  })
  const shard = shardOf('arn:aws:sns:us-east-1:000000000000:moved')
  const lanes = keySlot(shardBase(shard))
  const queues = [0, 1, 2].map((number) => keySlot(`{${dispatchTag(number)}}`))
  let haveMoved = false
  const count = SECONDS * PER_SECOND
  const publishing = ledger.publishAtRate({ count, perSecond: PER_SECOND, until: () => haveMoved })
  await waitFor(() => ledger.count('accepted') >= PER_SECOND)
  const masters = cluster.nodes.slice(0, 3)
  for (let round = 0; round < ROUNDS; round++) {
    for (const slot of [lanes, ...queues]) {
      const from = masters.indexOf(await cluster.masterOf(slot))
      const to = masters[(from + 1) % masters.length]
      if (to) await cluster.moveSlot(slot, to)
    }
  }
  // The slot stays half moved long enough for workers to take, park and settle while half of the keys are elsewhere.
  const to = cluster.nodes[0] === (await cluster.masterOf(lanes)) ? cluster.nodes[1] : cluster.nodes[0]
  const halfway = async () => {
    const taken = new Lanes(stack().connection).take(shard, NOTHING)
    expect(isTrouble(await taken.catch((error: unknown) => error))).toBe(true)
    const before = ledger.count('accepted')
    await waitFor(() => ledger.count('accepted') >= before + PER_SECOND)
  }
  try {
    if (to) await cluster.moveSlot(lanes, to, halfway)
  } finally {
    haveMoved = true
  }
  await publishing
  const account = await ledger.whenSettled({ timeoutMs: 40_000 })
  console.info(`slots moved: ${JSON.stringify(account)}`)
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, discarded: 0, expired: 0 })
  expect(account.accepted).toBeGreaterThan(0.5 * SECONDS * PER_SECOND)
}, 90_000)
