import { createMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { type DispatchEntry, deliveryId, type FilteredEntry } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import type { WorkerMetrics } from '../attempts/worker-metrics.ts'
import { MessageContext } from '../messages/message-context.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const metrics = { ended: () => undefined } as unknown as WorkerMetrics
const context = () =>
  new MessageContext({ messageId: createMessageId(1), topicArn: 'arn', publishedAt: 1, message: '' })

/** A log that fails while `away` is true. */
function createLog() {
  const written = { dispatch: 0, lanes: 0 }
  const outcomes = {
    away: false,
    written,
    append: async ({
      dispatch,
      lanes,
    }: {
      dispatch: (DispatchEntry | FilteredEntry)[]
      lanes: unknown[]
    }) => {
      if (outcomes.away) throw new Error('away')
      written.dispatch += dispatch.length
      written.lanes += lanes.length
    },
  }
  return outcomes
}

/** Longer than a write takes. */
const twoTurns = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

test('failed writes are repeated when the log works again, though nothing else happens', async () => {
  const outcomes = createLog()
  const recorder = new OutcomeRecorder(outcomes, metrics, log)
  outcomes.away = true
  recorder.unmatched(context())
  await twoTurns()
  outcomes.away = false
  await waitFor(() => outcomes.written.dispatch === 1, { timeoutMs: 5_000 })
})

test('stopping writes what is left', async () => {
  const outcomes = createLog()
  const recorder = new OutcomeRecorder(outcomes, metrics, log)
  outcomes.away = true
  recorder.unmatched(context())
  await twoTurns()
  outcomes.away = false
  await recorder.stop()
  expect(outcomes.written.dispatch).toBe(1)
})

test.each([1, 2, 3, 4])('an entry %i steps after a write is not left behind', async (steps) => {
  const outcomes = createLog()
  const recorder = new OutcomeRecorder(outcomes, metrics, log)
  const { append } = outcomes
  outcomes.append = async (entries) => {
    outcomes.append = append
    await append(entries)
    let told = Promise.resolve()
    for (let step = 0; step < steps; step++) told = told.then(() => undefined)
    void told.then(() => recorder.expired('id', deliveryId(createMessageId(1))))
  }
  recorder.unmatched(context())
  await waitFor(() => outcomes.written.lanes === 1, { timeoutMs: 3_000 })
  await recorder.stop()
})

test('entries of many turns go in few round trips', async () => {
  const outcomes = createLog()
  let trips = 0
  const { append } = outcomes
  outcomes.append = async (entries) => {
    trips += 1
    await append(entries)
  }
  const recorder = new OutcomeRecorder(outcomes, metrics, log)
  const startedAt = performance.now()
  for (let told = 0; told < 100; told++) {
    recorder.unmatched(context())
    await twoTurns()
  }
  await recorder.stop()
  expect(outcomes.written.dispatch).toBe(100)
  expect(trips).toBeLessThanOrEqual(3 + (performance.now() - startedAt) / 10)
})
