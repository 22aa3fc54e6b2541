/**
 * A worker is killed at every step of a FIFO message. One kill comes before Redis gets the step's script, another after
 * Redis has run it and before the worker gets the reply. The next worker continues in order, and no data is left
 * behind. Nothing of a killed worker is left but what Redis holds.
 */
import { waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { FifoLedger } from '../../harness/ledgers/fifo-ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { DISPATCH_JOBS, endJobLocks } from '../../harness/redis/job-locks.ts'
import { killAt } from '../../harness/redis/kill-at.ts'
import { all, hasArgument, runsScript } from '../../harness/redis/redis-requests.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

/** Longer than the leases of readers and attempts. */
const LEASES_END_MS = 30_000

const stack = useStack({ workers: 1, proxied: 'delivery-worker' })
const receiver = useReceiver()

const move = runsScript('move-log-1')
const settle = runsScript('settle-deliveries-1')
const STEPS = {
  'take the log': runsScript('take-deliveries-1'),
  'read the log': move,
  // Only a move says how many of a group may be sent at once.
  'move into lanes': all(move, hasArgument('2')),
  'append followers': runsScript('send-messages-1'),
  'settle followers': all(settle, hasArgument('deliveredAll')),
  'settle a head': all(settle, hasArgument('delivered')),
}
type Step = keyof typeof STEPS

/** Before these, Redis holds the same as after the step before. */
const ONLY_AFTER: Step[] = ['read the log', 'move into lanes', 'settle followers']

const CASES = (Object.keys(STEPS) as Step[]).flatMap((step) => [
  ...(ONLY_AFTER.includes(step) ? [] : [[step, 'before'] as const]),
  [step, 'after'] as const,
])

const row = beginFault('fifo-crash-points')
let [lost, duplicates] = [0, 0]

test.each(CASES)(
  'killed at: %s (%s)',
  async (step, at) => {
    const name = `${step}-${at}`.replaceAll(' ', '-')
    const ledger = await FifoLedger.open({
      stack: stack(),
      receiver: receiver(),
      name,
      groups: 1,
      messages: 10,
    })
    const killed = killAt({ proxy: stack().proxy, service: stack().worker(0) }, { matches: STEPS[step], at })
    await ledger.publish()
    await killed
    await moveRedisTime(stack().connection, LEASES_END_MS)
    await endJobLocks(stack().connection, DISPATCH_JOBS)
    await stack().worker(0).start()
    const { disorder, queue, webhook } = await ledger.whenComplete()
    lost += 20 - queue - webhook.firsts
    duplicates += webhook.arrivals - webhook.firsts
    expect([disorder, queue, webhook.firsts]).toEqual([[], 10, 10])
    await waitFor(async () => {
      const keys = await stack().connection.keys('ft:*')
      return !keys.some((key) => /:(msg|fresh|retry|lease|state|groups|behind|log):|:due$/.test(key))
    })
  },
  40_000,
)

afterAll(() => row.report({ messages: 10 * CASES.length, lost, duplicates, recoverySeconds: null }))
