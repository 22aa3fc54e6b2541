/** SIGKILL of everything at once, and of one worker after the other. tests/chaos kills at random. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { DirectLedger } from '../../harness/ledgers/direct-ledger.ts'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { KilledWork } from '../../harness/ledgers/killed-work.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const KILLS = LONG ? 50 : 5
const MESSAGES_PER_KILL = LONG ? 300 : 90
const PER_SECOND = LONG ? 200 : 60
/** Published before everything is killed at once. */
const [MESSAGES, TEXTS] = LONG ? [400, 100] : [250, 50]
const QUICKLY_PER_SECOND = 1_000

/** A short time-out, so that the leases of a killed worker are short too. */
const direct = await DirectLedger.open()
const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000', ...direct.env }
const stack = useStack({ workers: 2, redrive: true, redis: { appendfsync: 'always' }, env })
const receiver = useReceiver()

test('everything is killed right after the last 202, Redis too: nothing is lost', async () => {
  const row = beginFault('kills-at-once')
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'killed-at-once',
    subscriptions: { '/c': {}, '/d': {} },
  })
  await direct.register(stack().client)
  await Promise.all([
    ledger.publishAtRate({ count: MESSAGES, perSecond: QUICKLY_PER_SECOND }),
    direct.publishAll(stack().client, TEXTS),
  ])
  await Promise.all([
    stack().redis.kill(),
    ...stack()
      .services()
      .map((service) => service.kill()),
  ])
  await stack().redis.restart()
  const startedAt = performance.now()
  await Promise.all(
    stack()
      .services()
      .map((service) => service.start()),
  )
  const recoverySeconds = await ledger.recovered(startedAt)
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  expect(account).toMatchObject({ lost: 0, delivered: account.owed })
  expect(account.accepted).toBeGreaterThan(MESSAGES)
  expect(await direct.whenSettled()).toMatchObject({ accepted: TEXTS, lost: 0 })
}, 120_000)

test(
  'killed workers lose nothing, and repeat only what was under way at a kill',
  async () => {
    const row = beginFault('worker-kills')
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'killed-workers',
      subscriptions: { '/a': {}, '/b': {} },
    })
    const publishing = ledger.publishAtRate({ count: KILLS * MESSAGES_PER_KILL, perSecond: PER_SECOND })
    const killed = new KilledWork()
    for (let kill = 0; kill < KILLS; kill++) {
      const due = (kill + 0.5) * MESSAGES_PER_KILL
      await waitFor(() => ledger.count('accepted') >= due, { what: `${due} messages`, timeoutMs: 60_000 })
      await killed.restart(stack().worker(kill % 2), stack().connection)
    }
    await publishing
    const account = await ledger.whenSettled()
    row.report({ ...account, messages: account.accepted, recoverySeconds: null })
    expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, delivered: account.owed })
    expect(account.accepted).toBe(KILLS * MESSAGES_PER_KILL)
    killed.expectExplained(stack().workers, ledger.arrivals())
  },
  KILLS * 8_000 + 100_000,
)
