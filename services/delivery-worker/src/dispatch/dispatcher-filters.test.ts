/** A worker dies in the middle of a job. Filters change before the next worker takes the job over. */
import type { Message, SubscriptionRecord } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import { createLogger } from '@fantail/runtime'
import { messageBody, Snapshots } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { lastingCopies } from '../fixtures/lasting-copies.fixture.ts'
import { createFixture, createMessage, type Fixture, TOPIC } from '../fixtures/worker.fixture.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { Unit } from '../runs/unit.ts'
import { Bitmap } from '../topics/bitmap.ts'
import { SnapshotCache } from '../topics/snapshot-cache.ts'
import type { RejectedSlices } from '../topics/topic-filters.ts'
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
beforeEach(() => fixture.reset())
afterEach(() => vi.restoreAllMocks())
afterAll(() => fixture.stop())

const colored = (color: string) => ({ filterPolicy: { color: [color] } })
const inColor = (value: string): Message => ({
  ...createMessage('half done', TOPIC),
  attributes: { color: { type: 'String', value } },
})
const red = inColor('red')

/** A separate dispatcher, which only calls `start` with its units. */
function createDispatcher(start: (unit: Unit) => void, queued = 0) {
  const firstAttempts = { start, queued }
  const rejected: RejectedSlices[] = []
  const recorder: DispatcherOptions['recorder'] = {
    dispatched: () => undefined,
    filtered: () => undefined,
    rejectedSlices: (_topic, _context, rejectedSlices) => void rejected.push(rejectedSlices),
    unmatched: () => undefined,
    expiredWhole: () => undefined,
  }
  const dispatcher = new Dispatcher({
    seals: bodySealsOf(undefined),
    snapshots: new SnapshotCache(new Snapshots(fixture.redis), () => undefined),
    lanes: fixture.lanes,
    firstAttempts,
    parking: { checkpoint: () => undefined },
    recorder,
    locked: { report: () => undefined },
    idempotency: { claimForDispatch: async () => true },
    log: createLogger({ service: 'test', level: 'silent' }),
    count: async () => undefined,
    quarantine: async () => 'added',
    isolation: { begin: async () => undefined, end: async () => undefined },
    keeping: { keep: async () => undefined },
    now: Date.now,
  })
  const run = (fence: number, message = red) =>
    dispatcher.run({
      jobName: 'dispatch-0:1',
      fence,
      messages: [messageBody(message)],
      isLost: () => false,
      copies: lastingCopies(),
      hasCapacityFor: async () => true,
      handOut: async () => true,
      handOutAgain: async () => false,
    })
  const freeCapacity = () => {
    firstAttempts.queued = 0
    dispatcher.capacityFreed()
  }
  return { run, rejected, freeCapacity }
}

const BITS = [0, 1, 2]
const bitsOf = (bytes: Buffer) => BITS.filter((bit) => new Bitmap(BITS.length, bytes).has(bit))
const idsOf = (unit: Unit) => unit.matched.map(({ record }) => record.id).sort()

async function subscribeThree(): Promise<[SubscriptionRecord, SubscriptionRecord, SubscriptionRecord]> {
  return [
    await fixture.subscribe('settled', colored('red')),
    await fixture.subscribe('open', colored('red')),
    await fixture.subscribe('kept', colored('blue')),
  ]
}

/** The first start settles the first subscription's delivery, writes that into its checkpoint, and dies. */
async function dieHalfWay(settled: SubscriptionRecord): Promise<Unit> {
  let found: Unit | undefined
  const { run } = createDispatcher((unit) => {
    unit.open++
    unit.settle(settled.bit)
    found = unit
  })
  void run(1)
  const unit = await waitFor(() => found)
  const { shard } = unit.slice
  const fields = unit.run.checkpointFields(shard)
  await fixture.lanes.park(shard, {
    messages: [],
    jobs: [{ jobName: unit.run.jobName, fence: 1, fields, entries: [] }],
  })
  return unit
}

test('settled deliveries stay, and the rest goes by the filters of the later start', async () => {
  const [settled, open, kept] = await subscribeThree()
  const first = await dieHalfWay(settled)
  expect([idsOf(first), bitsOf(first.filtered)]).toEqual([[settled.id, open.id].sort(), [kept.bit]])
  await fixture.subscriptions.update(settled.id, () => colored('blue'))
  await fixture.subscriptions.update(open.id, () => colored('blue'))
  await fixture.subscriptions.update(kept.id, () => colored('red'))
  const units: Unit[] = []
  await createDispatcher((unit) => units.push(unit)).run(2)
  expect(units).toHaveLength(1)
  const second = units[0] as Unit
  expect(idsOf(second)).toEqual([kept.id])
  // The first start delivered or parked it. Its present filter does not matter, so it does not count as filtered.
  expect([second.settled.has(settled.bit), bitsOf(second.filtered)]).toEqual([true, [open.bit]])
})

test('a later start passes over no slice: it has to make the first one stale there', async () => {
  const [settled, open] = await subscribeThree()
  const first = await dieHalfWay(settled)
  for (const { id } of [settled, open]) await fixture.subscriptions.update(id, () => colored('blue'))
  const { run, rejected } = createDispatcher(() => undefined)
  await run(2)
  await run(2)
  expect(rejected).toEqual([])
  const { shard } = first.slice
  const late = { messages: [], jobs: [{ jobName: first.run.jobName, fence: 1, fields: [], entries: [] }] }
  expect((await fixture.lanes.park(shard, late)).jobs[0]?.stale).toBe(true)
})

test('a start that finds nobody for the message tells so, from the second message on without the slice', async () => {
  await subscribeThree()
  const green = inColor('green')
  const units: Unit[] = []
  const { run, rejected } = createDispatcher((unit) => units.push(unit))
  await run(1, green)
  await run(1, green)
  expect(units.map(idsOf)).toEqual([[]])
  const reasons = new Map([['MessageAttributes', 3]])
  expect(rejected).toEqual([{ runs: [[0, 0, 3]], except: [], reasons }])
})

test('a message that waits for capacity holds no parsed text', async () => {
  await fixture.subscribe('body', { filterPolicy: { color: ['red'] }, filterPolicyScope: 'MessageBody' })
  const parsed = vi.spyOn(MessageContext.prototype, 'subject')
  const forgotten = vi.spyOn(MessageContext.prototype, 'forgetSubjects')
  const last = ({ mock }: typeof forgotten | typeof parsed) => mock.invocationCallOrder.at(-1) ?? 0
  const units: Unit[] = []
  const { run, freeCapacity } = createDispatcher((unit) => units.push(unit), Number.POSITIVE_INFINITY)
  const done = run(1, createMessage('{"color":"red"}', TOPIC))
  await waitFor(() => last(parsed) > 0 && last(forgotten) > last(parsed))
  expect(units).toEqual([])
  freeCapacity()
  await done
  expect(units.map(idsOf)).toHaveLength(1)
})
