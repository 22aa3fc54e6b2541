/** A fresh worker that meets a topic of many filtered subscriptions loads its filters before it cuts a message. */
import type { Message } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import type { DispatchPart } from '@fantail/jobs'
import { createLogger } from '@fantail/runtime'
import { messageBody, type PackedSlice, type SliceRef, Snapshots } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dispatcher } from '../dispatch/dispatcher.ts'
import { lastingCopies } from '../fixtures/lasting-copies.fixture.ts'
import { createFixture, createMessage, type Fixture, TOPIC } from '../fixtures/worker.fixture.ts'
import type { Unit } from '../runs/unit.ts'
import { SnapshotCache } from './snapshot-cache.ts'
import type { RejectedSlices } from './topic-filters.ts'

const SUBSCRIPTIONS = 6_000
const SLICES = 12
/** Subscriptions of each color. */
const SAME = 10
const ALONGSIDE = 500

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
  await fixture.reset()
  for (let from = 0; from < SUBSCRIPTIONS; from += ALONGSIDE)
    await Promise.all(Array.from({ length: ALONGSIDE }, (_, i) => subscribe(from + i)))
}, 60_000)
afterAll(() => fixture.stop())

function subscribe(n: number) {
  const color = `color-${Math.floor(n / SAME)}`
  return fixture.subscribe(`s${n}`, { filterPolicy: { color: [color, 'every'] } })
}

/** Records which slices are loaded. */
class NotedSnapshots extends Snapshots {
  readonly loaded: string[] = []
  override packedSlice(ref: SliceRef): Promise<PackedSlice | null> {
    this.loaded.push(ref.sliceId)
    return super.packedSlice(ref)
  }
}

function createWorker() {
  const snapshots = new NotedSnapshots(fixture.redis)
  const units: Unit[] = []
  const parts: DispatchPart[] = []
  const rejected: RejectedSlices[] = []
  const dispatcher = new Dispatcher({
    seals: bodySealsOf(undefined),
    snapshots: new SnapshotCache(snapshots, (id, error) => expect.fail(`${id}: ${error}`)),
    lanes: fixture.lanes,
    firstAttempts: { start: (unit) => void units.push(unit), queued: 0 },
    parking: { checkpoint: () => undefined },
    recorder: {
      dispatched: () => undefined,
      filtered: () => undefined,
      rejectedSlices: (_topic, _context, rejectedSlices) => void rejected.push(rejectedSlices),
      unmatched: () => undefined,
      expiredWhole: () => undefined,
    },
    locked: { report: () => undefined },
    idempotency: { claimForDispatch: async () => true },
    log: createLogger({ service: 'test', level: 'silent' }),
    count: async () => undefined,
    quarantine: async () => 'added',
    isolation: { begin: async () => undefined, end: async () => undefined },
    keeping: { keep: async () => undefined },
    now: Date.now,
  })
  const run = (jobName: string, message: Message, fence = 1) =>
    dispatcher.run({
      jobName,
      fence,
      messages: [messageBody(message)],
      isLost: () => false,
      copies: lastingCopies(),
      hasCapacityFor: async () => true,
      handOut: async (cut) => parts.push(...cut) > 0,
      handOutAgain: async () => false,
    })
  const matched = () => units.flatMap((unit) => unit.matched).length
  return { snapshots, units, parts, rejected, run, matched }
}

const inColor = (value: string): Message => ({
  ...createMessage('one of many', TOPIC),
  attributes: { color: { type: 'String', value } },
})

test('jobs that come together share one load, and their messages to few are run whole', async () => {
  const { run, snapshots, parts, units, matched } = createWorker()
  const colors = [3, 50, 400]
  const ends = await Promise.all(colors.map((n) => run(`dispatch-0:${n}`, inColor(`color-${n}`))))
  expect([ends, parts]).toEqual([['settled', 'settled', 'settled'], []])
  expect([units.length, matched()]).toEqual([3, 3 * SAME])
  expect([snapshots.loaded.length, new Set(snapshots.loaded).size]).toEqual([SLICES, SLICES])
})

test('a message to all of them is cut', async () => {
  const { run, parts, units } = createWorker()
  expect(await run('dispatch-0:1', inColor('every'))).toBe('cut')
  expect([parts.length, units]).toEqual([3, []])
})

test('a later start of a job that was not begun opens what its filters match', async () => {
  const { run, parts, units, rejected, matched } = createWorker()
  await run('dispatch-0:1', inColor('nobody'))
  rejected.length = 0
  await run('dispatch-0:2', inColor('color-3'), 2)
  expect([units.length, matched(), parts]).toEqual([1, SAME, []])
  expect(rejected.map(({ reasons }) => [...reasons.values()])).toEqual([
    [SUBSCRIPTIONS - SUBSCRIPTIONS / SLICES],
  ])
})
