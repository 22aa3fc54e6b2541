import { expect, test } from 'vitest'
import { DirectLedger } from '../../harness/ledgers/direct-ledger.ts'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const MESSAGES = 800
const PER_SECOND = 1_000
const DIRECT = 100

const direct = await DirectLedger.open()
/** A short time-out, so that the leases of killed workers are short too. */
const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000', ...direct.env }
const stack = useStack({ workers: 2, redis: { appendfsync: 'always' }, env })
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
    ledger.publishAtRate({ count: MESSAGES, perSecond: PER_SECOND }),
    direct.publishAll(stack().client, DIRECT),
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
  expect(await direct.whenSettled()).toMatchObject({ accepted: DIRECT, lost: 0 })
}, 120_000)
