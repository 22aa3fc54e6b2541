/**
 * The work of a killed worker continues elsewhere. Its jobs and waiting lanes do so within 5 s. Attempts from a lane
 * that were under way are repeated within 20 s, when their leases have ended.
 */
import { steadyNow, waitFor } from '@fantail/test-kit'
import { describe, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'
import {
  ALLOWANCE,
  claimedIn,
  lastBegun,
  lastMs,
  openTopic,
  publishOneByOne,
  SUBSCRIPTIONS,
  untilInFlight,
  watch,
} from './leaving.ts'
import { holdEndpoint } from './silent-endpoint.ts'

const WAITING_MS_MAX = 5_000
const CLAIMED_MS_MAX = 20_000
/** A job waits at least this long for an attempt without an answer. Then the attempt gets a lease, as in a lane. */
const DETACHED_MS = 1_000

const receiver = useReceiver()

/** For jobs, and then for lanes. */
const stack = useStack({ workers: 2 })

describe('jobs', () => {
  test('jobs that a killed worker was running move again within 5 s', async () => {
    const ledger = await openTopic(stack(), receiver(), 'jobs')
    const endpoint = holdEndpoint(receiver(), '/jobs/')
    // An attempt begins before its request arrives, because it may wait for a connection.
    const begunAt = steadyNow()
    await publishOneByOne(stack(), ledger, 2 * ALLOWANCE + 4)
    await untilInFlight(endpoint, 2 * ALLOWANCE * SUBSCRIPTIONS)
    const stalls = watch(stack())
    await stack().worker(0).kill()
    const claimed = await claimedIn(stack(), ledger)
    const killedAt = endpoint.release()
    const again = () => endpoint.since(killedAt).again.length
    const what = 'the attempts of the killed worker'
    await waitFor(() => again() >= ALLOWANCE * SUBSCRIPTIONS, { what, timeoutMs: 40_000 })
    const begun = await lastBegun(ledger, endpoint, { since: killedAt, claimed, stalls })
    expect(begun.first).toBeGreaterThan(0)
    expect(begun.firstMs).toBeLessThan(WAITING_MS_MAX)
    // On a busy machine the attempts may be so old at the kill that their jobs no longer wait for them.
    expect(begun.againMs).toBeLessThan(killedAt - begunAt < DETACHED_MS ? WAITING_MS_MAX : CLAIMED_MS_MAX)
  }, 90_000)
})

// Both tests wait many seconds for leases to end. So they run at the same time, each on its own stack.
describe.concurrent('lanes', () => {
  test('waiting deliveries of a backlog move within 5 s of a kill, and those being sent within 20 s', async ({
    onTestFinished,
  }) => {
    if (!stack().worker(0).running) await stack().worker(0).start()
    const ledger = await openTopic(stack(), receiver(), 'lanes')
    const endpoint = holdEndpoint(receiver(), '/lanes/')
    const change = (what: string) =>
      Promise.all(
        ledger.subscriptions.map(({ id }) => stack().client.post(`/v1/subscriptions/${id}/${what}`, {})),
      )
    await change('pause')
    await publishOneByOne(stack(), ledger, 2 * ALLOWANCE + 4)
    await waitFor(async () => (await ledger.waiting()) === SUBSCRIPTIONS * (2 * ALLOWANCE + 4))
    await change('resume')
    await untilInFlight(endpoint, 2 * ALLOWANCE * SUBSCRIPTIONS)
    const stalls = watch(stack(), onTestFinished)
    await stack().worker(0).kill()
    const claimed = await claimedIn(stack(), ledger)
    const begun = await lastBegun(ledger, endpoint, { since: endpoint.release(), claimed, stalls })
    expect(claimed.size).toBeGreaterThan(0)
    expect(claimed.size).toBeLessThanOrEqual(2 * ALLOWANCE * SUBSCRIPTIONS)
    expect(begun.again).toBeGreaterThan(0)
    expect(begun.first).toBeGreaterThan(0)
    expect(begun.firstMs).toBeLessThan(WAITING_MS_MAX)
    expect(begun.againMs).toBeLessThan(CLAIMED_MS_MAX)
  }, 90_000)
})

describe.concurrent('FIFO groups', () => {
  const stack = useStack({ workers: 2 })

  test('a FIFO group whose head a killed worker was sending goes on within 20 s, in order', async ({
    onTestFinished,
  }) => {
    const { client } = stack()
    const groups = Array.from({ length: 2 * ALLOWANCE }, (_, i) => `g${i}`)
    const endpoint = holdEndpoint(receiver(), '/heads')
    await client.put('/v1/topics/heads.fifo', { contentBasedDeduplication: true })
    await client.post('/v1/topics/heads.fifo/subscriptions', {
      endpoint: `${receiver().url}/heads`,
      rawMessageDelivery: true,
    })
    for (const round of [0, 1, 2])
      for (const groupId of groups)
        await client.post('/v1/topics/heads.fifo/messages', { message: `${groupId}-${round}`, groupId })
    await untilInFlight(endpoint, groups.length)
    const stalls = watch(stack(), onTestFinished)
    await stack().worker(0).kill()
    const killedAt = endpoint.release()
    const texts = () => [...new Set(endpoint.requests().map(({ text }) => text))]
    await waitFor(() => texts().length === 3 * groups.length, { what: 'every group', timeoutMs: 40_000 })
    const { again, first } = endpoint.since(killedAt)
    expect(again.length).toBeGreaterThan(0)
    expect(lastMs([...again, ...first], killedAt, stalls)).toBeLessThan(CLAIMED_MS_MAX)
    for (const group of groups)
      expect(texts().filter((text) => text.startsWith(`${group}-`))).toEqual(
        [0, 1, 2].map((round) => `${group}-${round}`),
      )
  }, 60_000)
})
