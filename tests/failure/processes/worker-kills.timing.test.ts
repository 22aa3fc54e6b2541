import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const MESSAGES = 9_000
const PER_SECOND = 1_000
const KILL_EVERY_MS = 2_000
const DUPLICATES_MAX = 0.02

const stack = useStack({ workers: 2, redis: { appendfsync: 'always' } })
const receiver = useReceiver()

test('killing one of two workers every 2 s loses nothing and repeats less than 2 %', async () => {
  const row = beginFault('worker-kills')
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'killed-workers',
    subscriptions: { '/a': {}, '/b': {} },
  })
  const publishing = ledger.publishAtRate({ count: MESSAGES, perSecond: PER_SECOND })
  const kills = await killInTurn(ledger, publishing)
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds: null })
  expect(kills).toBeGreaterThanOrEqual(4)
  expect(account).toMatchObject({ accepted: MESSAGES, delivered: 2 * MESSAGES, lost: 0 })
  expect(account.duplicates).toBeLessThan(DUPLICATES_MAX * account.owed)
  console.info(`duplicates: ${account.duplicates} of ${account.owed}, kills: ${kills}`)
}, 90_000)

/**
 * Kills and starts a worker every 2 s, one after the other, until the publishing has ended. A busy machine accepts
 * fewer messages in this time. It kills later, so that each kill meets as many messages as elsewhere.
 */
async function killInTurn(ledger: Ledger, publishing: Promise<void>): Promise<number> {
  let ended = false
  void publishing.finally(() => {
    ended = true
  })
  const startedAt = performance.now()
  const restarts: Promise<void>[] = []
  for (;;) {
    const dueAfterMs = (restarts.length + 1) * KILL_EVERY_MS
    const due = () =>
      performance.now() >= startedAt + dueAfterMs &&
      ledger.count('accepted') >= (dueAfterMs / 1_000) * PER_SECOND
    await waitFor(() => ended || due(), { timeoutMs: 60_000 })
    if (ended) break
    restarts.push(
      stack()
        .worker(restarts.length % 2)
        .restart(),
    )
  }
  await Promise.all(restarts)
  return restarts.length
}
