/** The layer that takes jobs: their consumers, their dispatcher and first attempts. */
import { DispatchConsumer, DispatchConsumers } from '@fantail/jobs'
import { Dispatcher } from '../dispatch/dispatcher.ts'
import { FirstAttempts } from '../first-attempts/first-attempts.ts'
import { MessageKeeping } from '../kept/message-keeping.ts'
import { IsolationNotes } from '../reports/isolation-notes.ts'
import type { Ending } from './ending.ts'
import type { Attempting } from './worker-attempting.ts'
import type { Ground } from './worker-ground.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

/** @limit Dispatch jobs that a worker runs at a time from one queue. Past it: it fetches no further job. */
const JOBS_MAX = 512

export type Dispatching = ReturnType<typeof createDispatching>

export function createDispatching(below: Ground & Attempting & Ending, options: DeliveryWorkerOptions) {
  const { redis, servers, stores, quarantine, storageGuard, now, log } = below
  const { redisUrl: url, attemptTimeoutMs } = options
  const isolation = new IsolationNotes({ isolated: stores.isolated, log, now })
  const keeping = new MessageKeeping({ kept: stores.kept, upkeep: stores.keptUpkeep, storageGuard, log })
  const firstAttempts = new FirstAttempts({ ...below, attemptTimeoutMs })
  const dispatcher = new Dispatcher({
    ...below,
    firstAttempts,
    idempotency: stores.idempotency,
    count: (cause) => stores.counts.add(cause),
    isolation,
    keeping,
  })
  const consumers = new DispatchConsumers({
    redis,
    queues: options.dispatchQueues,
    log,
    create: (queue) =>
      new DispatchConsumer({
        url,
        redis,
        servers,
        queue,
        jobsMax: JOBS_MAX,
        hasCapacity: () => dispatcher.hasCapacity,
        fetching: (change) => dispatcher.fetching(change),
        redisMemoryBytes: options.redisMemoryBytes,
        quarantine,
        run: (run) => dispatcher.run(run),
        completed: (run) => void dispatcher.completed(run),
        log,
        telemetry: options.bullTelemetry,
      }),
  })
  return { isolation, keeping, firstAttempts, dispatcher, consumers }
}
