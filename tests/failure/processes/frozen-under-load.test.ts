/** A worker is frozen under load for longer than its locks and leases last, and then continues. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const FROZEN_MS = LONG ? 60_000 : 10_000
const PER_SECOND = LONG ? 60 : 20
const DUPLICATES_MAX = 100

/** Leases last 5 s longer. */
const stack = useStack({ workers: 2, env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000' } })
const receiver = useReceiver()

test(
  'a worker that freezes under load and comes back repeats what it had under way, at most',
  async () => {
    const row = beginFault('frozen-worker')
    const zombie = stack().worker(0)
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'frozen-under-load',
      subscriptions: {
        '/plain': {},
        '/paced': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 2 * PER_SECOND } } },
      },
    })
    const count = ((FROZEN_MS + 6_000) / 1_000) * PER_SECOND
    const publishing = ledger.publishAtRate({ count, perSecond: PER_SECOND })
    await waitFor(() => ledger.count('accepted') >= 2 * PER_SECOND)
    zombie.signal('SIGSTOP')
    const frozenAt = performance.now()
    const recoverySeconds = await ledger.recovered(frozenAt)
    await untilPassed(FROZEN_MS, frozenAt)
    zombie.signal('SIGCONT')
    await publishing
    await ledger.recovered(performance.now())
    const account = await ledger.whenSettled({ timeoutMs: 60_000 })
    row.report({ ...account, messages: account.accepted, recoverySeconds })
    expect(ledger.ownFailures()).toEqual([])
    expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, discarded: 0, expired: 0 })
    expect(account.delivered).toBe(account.owed)
    expect(account.duplicates).toBeLessThan(DUPLICATES_MAX)
  },
  FROZEN_MS + 120_000,
)
