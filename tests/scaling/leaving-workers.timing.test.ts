/** A stopped worker hands over at once, and repeats nothing. */
import { steadyNow, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'
import {
  ALLOWANCE,
  lastBegun,
  openTopic,
  publishOneByOne,
  SUBSCRIPTIONS,
  untilInFlight,
  watch,
} from './leaving.ts'
import { holdEndpoint } from './silent-endpoint.ts'

const HANDOVER_MS_MAX = 1_000

const stack = useStack({ workers: 2 })
const receiver = useReceiver()

test('a worker that is stopped hands over unsent deliveries within a second, and repeats none', async () => {
  const ledger = await openTopic(stack(), receiver(), 'stopped')
  const endpoint = holdEndpoint(receiver(), '/stopped/')
  await publishOneByOne(stack(), ledger, 2 * ALLOWANCE + 4)
  await untilInFlight(endpoint, 2 * ALLOWANCE * SUBSCRIPTIONS)
  const stalls = watch(stack())
  const toldAt = steadyNow()
  const stopped = stack().worker(0).stop()
  // At this early time, only deliveries that a worker has handed over wait in lanes.
  await waitFor(async () => (await ledger.account()).waiting > 0, { intervalMs: 1 })
  endpoint.release()
  const begun = await lastBegun(ledger, endpoint, { since: toldAt, stalls })
  expect(begun).toMatchObject({ again: 0, first: 4 * SUBSCRIPTIONS })
  expect(begun.firstMs).toBeLessThan(HANDOVER_MS_MAX)
  expect(await stopped).toBe(0)
}, 60_000)
