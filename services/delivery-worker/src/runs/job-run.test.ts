import { expect, test } from 'vitest'
import { lastingCopies } from '../fixtures/lasting-copies.fixture.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSlice, CompiledSubscription } from '../topics/compiled-slice.ts'
import { JobRun } from './job-run.ts'
import { Unit } from './unit.ts'

const subscription = {} as CompiledSubscription
const sliceOf = (n: number): CompiledSlice => ({
  sliceId: `topic.${n}`,
  shard: n % 48,
  departures: 0,
  revision: '1',
  topic: {} as CompiledSlice['topic'],
  bits: 8,
  subscriptions: [subscription],
  filters: null,
  unfiltered: [],
  byBit: [],
  byId: new Map([['id', subscription]]),
})

async function never(): Promise<never> {
  throw new Error('not asked for')
}

test('a long run releases ended slices, and still knows their settled deliveries', () => {
  const told: number[] = []
  const job = {
    jobName: 'dispatch-0:1',
    fence: 1,
    messages: [],
    isLost: () => false,
    copies: lastingCopies(),
  }
  const run = new JobRun({ ...job, hasCapacityFor: never, handOut: never, handOutAgain: never }, [], (unit) =>
    told.push(unit.matched.length),
  )
  const context = {} as MessageContext
  for (let n = 0; n < 100; n++) {
    const unit = new Unit({ run, index: 0, context, slice: sliceOf(n), checkedAt: 0 })
    unit.matched = [subscription]
    run.addUnit(unit)
    unit.open++
    unit.settle(3)
    unit.close()
  }
  expect(told).toEqual(Array.from({ length: 100 }, () => 1))
  const kept = run.units.filter(({ slice, matched }) => slice.byId.size + matched.length > 0)
  expect(kept.length).toBeLessThan(20)
  expect(run.dirtyShards().size).toBe(48)
  expect(run.checkpointFields(1).map(([name]) => name)).toEqual(['0.topic.1', '0.topic.49', '0.topic.97'])
})
