/** Batches that wait for longer than leases last. */
import { createMessageId, parseMessageId } from '@fantail/contracts'
import type { RenewedClaim, SettleTo } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { BatchedClaim, type TakenLane } from '../claims/open-claims.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { createBatchAttempter } from './batch-attempter.fixture.ts'
import { LaneBatches } from './lane-batches.ts'

const LINGER_MS = 1_200
const subscription = {
  record: { id: 'stream', protocol: 'http', maxInFlight: 1, status: 'active' },
  target: {},
  shard: 0,
} as unknown as CompiledSubscription

function claimOf(text: string, lease: string, lane: Partial<TakenLane> = {}): BatchedClaim {
  const messageId = createMessageId(Date.now())
  const context = { messageId, topicArn: 'arn', publishedAt: 1, message: text }
  const delivery = parseMessageId(messageId) ?? Buffer.alloc(16)
  const claim = { delivery, lease, sendAt: null, state: null }
  const message = new MessageContext(context)
  const bodies = { hang: () => undefined, release: () => undefined }
  return new BatchedClaim(
    { subscription, proven: true, checkedAt: Infinity, ...lane },
    claim,
    message,
    bodies,
  )
}

/** `renew` returns the result of each renewal. */
function createBatches(
  renew: (lease: string, n: number) => RenewedClaim,
  { lingerMs = LINGER_MS, gatheredBytesMax = 1_000_000 } = {},
) {
  const attempter = createBatchAttempter({ lingerMs })
  const settled: [lease: string, op: SettleTo['op']][] = []
  let renewals = 0
  const settle = async (_: number, { lease }: { lease: string }, { op }: SettleTo) => {
    settled.push([lease, op])
    return { accepted: true, lease: null }
  }
  const batches = new LaneBatches({
    attempters: { http: attempter },
    settling: { settle },
    endings: {
      end: (_: object, { claimed }: { claimed: { lease: string } }) =>
        settle(0, claimed, { op: 'delivered' }),
    },
    renewals: {
      renew: async (_: number, { claims }: { claims: { lease: string }[] }) => {
        renewals++
        return claims.map(({ lease }) => renew(lease, renewals))
      },
    },
    slots: { acquire: () => true, release: () => undefined, isProven: () => true, capacity: () => 1 },
    freed: { announce: () => undefined },
    credentials: { admit: () => undefined, ended: () => undefined },
    metrics: { attempted: () => undefined },
    spans: { on: false },
    snapshots: { sliceForClaim: async () => ({ byId: new Map([['stream', subscription]]) }) },
    attemptTimeoutMs: 0,
    gatheredBytesMax,
  } as never)
  return { attempter, batches, settled, renewals: () => renewals }
}

test('claims are renewed while they wait and before they are sent, and settled by their new leases', async () => {
  const { attempter, batches, settled, renewals } = createBatches((lease) => ({
    lease: `${lease}+`,
    sendAt: 1,
  }))
  batches.add(claimOf('a', '1'))
  batches.add(claimOf('b', '2'))
  await waitFor(() => settled.length === 2)
  expect(attempter.requests.map(({ texts }) => texts)).toEqual([['a', 'b']])
  expect(renewals()).toBeGreaterThanOrEqual(2)
  const plus = '+'.repeat(renewals())
  expect(settled).toEqual([
    [`1${plus}`, 'delivered'],
    [`2${plus}`, 'delivered'],
  ])
  await batches.stop()
})

test('a claim that was lost meanwhile is not sent', async () => {
  const { attempter, batches, settled } = createBatches((lease) => ({
    lease,
    sendAt: lease === '1' ? null : 1,
  }))
  batches.add(claimOf('a', '1'))
  batches.add(claimOf('b', '2'))
  await waitFor(() => settled.length === 2)
  expect(attempter.requests.map(({ texts }) => texts)).toEqual([['b']])
  expect(settled).toEqual([
    ['1', 'returnToLane'],
    ['2', 'delivered'],
  ])
  await batches.stop()
})

test('a lane may get whole requests, less what is gathered', async () => {
  const { batches } = createBatches((lease) => ({ lease, sendAt: 1 }))
  const limitOf = () => {
    const limits = new Map<string, number>([['another', 3]])
    batches.limit(limits)
    return [...limits]
  }
  expect(limitOf()).toEqual([['another', 3]])
  batches.add(claimOf('a', '1'))
  expect(limitOf()).toEqual([
    ['another', 3],
    ['stream', 49],
  ])
  await batches.stop()
})

test('a probe of an endpoint or a credential waits for nothing', async () => {
  const { attempter, batches } = createBatches((lease) => ({ lease, sendAt: 1 }), { lingerMs: 600_000 })
  batches.add(claimOf('a', '1', { proven: false }))
  await waitFor(() => attempter.requests.length === 1)
  batches.add(claimOf('b', '2', { blockedBy: 'stream' }))
  await waitFor(() => attempter.requests.length === 2)
  expect(attempter.requests.map(({ texts }) => texts)).toEqual([['a'], ['b']])
  await batches.stop()
})

test('past the bytes that may wait, the largest batch is sent', async () => {
  const [other, third] = ['other', 'third'].map(
    (id) => ({ ...subscription, record: { ...subscription.record, id } }) as CompiledSubscription,
  )
  const limits = { lingerMs: 600_000, gatheredBytesMax: 10_000 }
  const { attempter, batches } = createBatches((lease) => ({ lease, sendAt: 1 }), limits)
  batches.add(claimOf('a', '1'))
  batches.add(claimOf('x'.repeat(1_000), '2', { subscription: other ?? subscription }))
  expect(attempter.requests).toEqual([])
  batches.add(claimOf('y'.repeat(900), '3', { subscription: third ?? subscription }))
  await waitFor(() => attempter.requests.length === 1)
  expect(attempter.requests.map(({ texts }) => texts)).toEqual([['x'.repeat(1_000)]])
  await batches.stop()
})
