/** Invariant 2 under all faults at once: throttled, flaky and refusing endpoints while workers and Redis are killed. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const MESSAGES = 800
const PER_SECOND = 200
/** Longer than every lease, so that claims of killed workers are claimed again. */
const LEASES_END_MS = 30_000

const stack = useStack({ workers: 2, redis: { appendfsync: 'always' } })
const receiver = useReceiver()

test('every delivery ends in one place, whatever is killed meanwhile', async () => {
  const row = beginFault('mixed-kills')
  // The answer depends on the message's number, so a repeated attempt gets the same one.
  const numberOf = (text: string) => Number(text.slice(1))
  receiver().respond('/flaky', ({ text, attempt }) => ({ status: attempt <= numberOf(text) % 3 ? 503 : 200 }))
  receiver().respond('/refusing', ({ text }) => ({ status: numberOf(text) % 10 === 0 ? 404 : 200 }))
  const deliveryPolicy = retries(20, { numNoDelayRetries: 20 })
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'mixed',
    subscriptions: {
      '/steady': {},
      '/throttled': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 500 } } },
      '/flaky': { deliveryPolicy },
      '/refusing': {},
    },
    deadLetterQueue: 'mixed-dead',
  })
  const publishing = ledger.publishAtRate({ count: MESSAGES, perSecond: PER_SECOND })
  const reached = (share: number) =>
    waitFor(() => ledger.fates.size >= share * MESSAGES, {
      timeoutMs: 30_000,
      what: `${share} of the messages`,
    })
  await reached(0.2)
  await stack().worker(0).restart()
  await reached(0.4)
  await Promise.all(stack().workers.map((worker) => worker.restart()))
  await reached(0.6)
  await stack().redis.kill()
  await stack().redis.restart()
  await reached(0.8)
  await stack().worker(1).restart()
  await publishing
  await moveRedisTime(stack().connection, LEASES_END_MS)
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds: null })
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, discarded: 0, expired: 0, waiting: 0 })
  expect(account.delivered + account.deadLettered).toBe(account.owed)
  // The refusing endpoint refuses a tenth of the stored messages.
  expect(account.deadLettered).toBeGreaterThan(0.05 * (account.owed / 4))
  expect(account.duplicates).toBeLessThan(0.05 * account.owed)
}, 90_000)
