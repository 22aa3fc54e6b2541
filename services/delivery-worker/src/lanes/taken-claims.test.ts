import { createMessageId, parseMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import type { ClaimedLane, TakeResult } from '@fantail/store'
import { expect, test } from 'vitest'
import { BodyBytes } from '../bodies/body-bytes.ts'
import { AttemptSlots } from '../capacity/attempt-slots.ts'
import { BusyTargets } from '../capacity/busy-targets.ts'
import { FreedCapacity } from '../capacity/freed-capacity.ts'
import { lasting } from '../fixtures/lasting-copies.fixture.ts'
import { MessageContext } from '../messages/message-context.ts'
import { TakenClaims, type TakenClaimsOptions } from './taken-claims.ts'

const log = createLogger({ service: 'test', level: 'silent' })

/** Claims that are never attempted. `settled` lists `<lease> <what>` for each. */
function createClaims(options: Partial<TakenClaimsOptions>) {
  const settled: string[] = []
  const claims = new TakenClaims({
    slots: new AttemptSlots({ attemptsMax: 10 }),
    bytes: new BodyBytes({ freed: new FreedCapacity() }),
    targets: new BusyTargets(),
    snapshots: { slice: async () => null },
    bodies: { get: async (_, deliveries) => deliveries.map(() => context) },
    claimAttempts: { begin: () => undefined, deadLetter: () => undefined },
    batches: { takes: () => false, add: () => undefined },
    pacing: { unsent: () => undefined },
    settling: {
      settle: async (_, { lease }, to) => {
        settled.push(`${lease} ${to.op}`)
        return { accepted: true, lease: null }
      },
    },
    recorder: { expired: () => undefined, ended: () => undefined },
    locked: { report: () => undefined },
    servers: lasting,
    quarantine: async () => 'added',
    log,
    onStarved: () => undefined,
    ...options,
  })
  return { claims, settled }
}

const messageId = createMessageId(1)
const context = new MessageContext({ messageId, topicArn: 'arn', publishedAt: 1, message: '' })

function laneOf(sliceId: string, ...leases: string[]): ClaimedLane {
  const delivery = parseMessageId(messageId) ?? Buffer.alloc(16)
  const claims = leases.map((lease) => ({ delivery, lease, sendAt: null, state: null }))
  return { subscriptionId: `of ${sliceId}`, sliceId, sliceRevision: '1', proven: true, claims }
}

const taken = (...lanes: ClaimedLane[]): TakeResult => ({
  now: 1,
  nextDueAt: null,
  nextUnprovenAt: null,
  lanes,
  expired: [],
  discarded: 0,
  logs: [],
  unreadable: [],
})

test('claims whose bodies do not come are handed back, not left to their leases', async () => {
  const get = () => Promise.reject(new Error('Command timed out'))
  const { claims, settled } = createClaims({ bodies: { get } })
  await expect(claims.begin(0, taken(laneOf('a', '1', '2'), laneOf('b', '3')), 0)).rejects.toThrow(
    'timed out',
  )
  expect(settled).toEqual(['1 returnToLane', '2 returnToLane', '3 returnToLane'])
})

test('without a snapshot its lane is handed back, and no other', async () => {
  const slice = async ({ sliceId }: { sliceId: string }) => {
    if (sliceId === 'b') throw new Error('Command timed out')
    return null
  }
  const { claims, settled } = createClaims({ snapshots: { slice } })
  const lanes = [laneOf('a', '1'), laneOf('b', '2'), laneOf('c', '3')]
  await expect(claims.begin(0, taken(...lanes), 0)).rejects.toThrow('timed out')
  expect(settled).toEqual(['2 returnToLane'])
})

test.each([
  ['a delivery without a body leaves its lane for the quarantine', async () => 'added', '1 quarantined'],
  ['a delivery that a full quarantine refuses stays in its lane', async () => 'full', '1 returnToLane'],
  [
    'a delivery that Redis keeps from the quarantine stays in its lane',
    () => Promise.reject(new Error()),
    '1 returnToLane',
  ],
] as [string, TakenClaimsOptions['quarantine'], string][])('%s', async (_, quarantine, outcome) => {
  const entries: string[] = []
  const { claims, settled } = createClaims({
    bodies: { get: async () => [null] },
    quarantine: (entry) => {
      entries.push(`${entry.id} ${entry.reason}`)
      return quarantine(entry)
    },
  })
  await claims.begin(0, taken(laneOf('a', '1')), 0)
  await expect.poll(() => settled).toEqual(['1 continueClaim', outcome])
  expect(entries).toEqual([`delivery.${messageId}.0.of a bodyMissing`])
})

test('a claim that was lost while its body was fetched quarantines nothing', async () => {
  const entries: string[] = []
  const settled: string[] = []
  const { claims } = createClaims({
    bodies: { get: async () => [null] },
    settling: {
      settle: async (_, __, { op }) => {
        settled.push(op)
        return { accepted: false, lease: null }
      },
    },
    quarantine: async ({ id }) => {
      entries.push(id)
      return 'added'
    },
  })
  await claims.begin(0, taken(laneOf('a', '1')), 0)
  await new Promise((resolve) => setImmediate(resolve))
  expect([settled, entries]).toEqual([['continueClaim'], []])
})

test.each([
  ['no bytes are left for', { bytes: new BodyBytes({ bytesMax: 0, freed: new FreedCapacity() }) }],
  ['whose body was not loaded', { bodies: { get: async () => [undefined] } }],
])('a claim %s is handed back, and the loop waits for room', async (_, options) => {
  let starved = 0
  const snapshots = {
    slice: async () => ({ byId: new Map([['of a', { record: { id: 'of a' }, shard: 0 }]]) }),
  }
  const onStarved = () => void starved++
  const { claims, settled } = createClaims({ ...options, onStarved, snapshots: snapshots as never })
  await claims.begin(0, taken(laneOf('a', '1')), 0)
  expect([settled, starved]).toEqual([['1 returnToLane'], 1])
})
