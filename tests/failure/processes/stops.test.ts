/** SIGTERM of each process under load: its work in progress ends, nothing is repeated, and the process ends in time. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG, secondsSince } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const ROUNDS = LONG ? 10 : 1
const PER_SECOND = LONG ? 100 : 30
const THROTTLE = 0.7 * PER_SECOND
const ROUND_SECONDS = 6
const STOPPED_WITHIN_S = 20
const SLOW_MS = 400

const stack = useStack({ workers: 2, redrive: true, redis: { appendfsync: 'always' } })
const receiver = useReceiver()

test(
  'processes that are told to stop under load are gone within 20 s, and nothing is lost or repeated',
  async () => {
    const row = beginFault('sigterm')
    receiver().respond('/slow', { delayMs: SLOW_MS })
    receiver().respond('/refusing', ({ attempt }) => ({ status: attempt === 1 ? 404 : 200 }))
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'stopped',
      subscriptions: {
        '/quick': {},
        '/slow': { maxInFlight: 128 },
        '/throttled': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: THROTTLE } } },
        '/refusing': { deliveryPolicy: retries(1) },
      },
      deadLetterQueue: 'stopped-dead',
    })
    const publishing = ledger.publishAtRate({
      count: ROUNDS * ROUND_SECONDS * PER_SECOND,
      perSecond: PER_SECOND,
    })
    let recoverySeconds = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (const service of stack().services()) {
        await untilPassed((ROUND_SECONDS * 100) / stack().services().length)
        await stack().client.call('POST', '/v1/redrives', { body: { source: 'stopped-dead' } })
        const toldAt = performance.now()
        const code = await service.stop()
        expect([service.label, code]).toEqual([service.label, 0])
        expect(secondsSince(toldAt)).toBeLessThan(STOPPED_WITHIN_S)
        await service.start()
        recoverySeconds = Math.max(recoverySeconds, secondsSince(toldAt))
      }
    }
    await publishing
    await ledger.whenSettled({ timeoutMs: 60_000 })
    await waitFor(
      async () => {
        await stack().client.call('POST', '/v1/redrives', { body: { source: 'stopped-dead' } })
        return (await ledger.account()).deadLettered === 0
      },
      { timeoutMs: 60_000, intervalMs: 500, what: 'all dead letters to be redriven' },
    )
    const account = await ledger.whenSettled({ timeoutMs: 60_000 })
    row.report({ ...account, messages: account.accepted, recoverySeconds })
    expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, duplicates: 0, deadLettered: 0 })
    expect(account.delivered).toBe(account.owed)
  },
  ROUNDS * 60_000 + 120_000,
)
