/** The layer on which attempts end: dead letters, reports, and the decision about what follows. */
import { nameOfArn } from '@fantail/contracts'
import { LetterQuota, type LetterShares } from '@fantail/store'
import { DeadLetters } from '../dead-letters/dead-letters.ts'
import { LetterAppends } from '../dead-letters/letter-appends.ts'
import { MissingQueues } from '../dead-letters/missing-queues.ts'
import { Endings } from '../endings/endings.ts'
import { GoneEndpoints } from '../endings/gone-endpoints.ts'
import { LaneSource } from '../endings/lane-source.ts'
import { AttemptLog } from '../reports/attempt-log.ts'
import { DeliveryStatus } from '../reports/delivery-status.ts'
import { LaneFigureWriter } from '../reports/lane-figure-writer.ts'
import { LiveAttempts } from '../reports/live-attempts.ts'
import { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { Attempting } from './worker-attempting.ts'
import type { Ground } from './worker-ground.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

const LETTER_SHARES_DEFAULT: LetterShares = { perQueue: 0.05, together: 0.2 }

export type Ending = ReturnType<typeof createEnding>

export function createEnding(below: Ground & Attempting, options: DeliveryWorkerOptions) {
  const { redis, stores, metrics, lanes, live, recording, now, log } = below
  const { retryJitter: jitter, maxRetrySeconds } = options
  const recorder = new OutcomeRecorder(stores.outcomes, metrics, log)
  const quota = new LetterQuota({
    redis,
    shares: options.letterShares ?? LETTER_SHARES_DEFAULT,
    sample: () => stores.storageGuard.sample,
    onRemoved: (topicArn, removed, of) => recorder.lettersRemoved(nameOfArn(topicArn), removed, of),
    onProblem: (error) => log.debug({ err: error }, 'letter_quota.check_failed'),
  })
  const letters = new LetterAppends({ ...below, topicQueues: stores.topicQueues, quota, recorder })
  const status = new DeliveryStatus({ log, records: options.telemetry.logs, now })
  const missing = new MissingQueues({ lanes, log })
  const deadLetters = new DeadLetters({ ...below, letters, recorder, missing, status })
  const notes = new LaneFigureWriter(lanes, log)
  // Every report of ended attempts. A further one needs its class and an entry here. Recording is made on the ground
  // layer, because attempts ask it which answers to keep.
  const reports = [
    notes,
    new AttemptLog(log, options.attemptLines),
    recording,
    new LiveAttempts({ live, now }),
  ]
  const gone = new GoneEndpoints({ subscriptions: stores.subscriptions, log })
  return {
    recorder,
    status,
    missing,
    deadLetters,
    notes,
    laneSource: new LaneSource({ ...below, deadLetters, recorder, status }),
    endings: new Endings({ ...below, reports, gone, jitter, maxRetrySeconds }),
  }
}
