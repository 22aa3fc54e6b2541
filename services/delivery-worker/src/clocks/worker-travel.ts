/**
 * A worker's part in moving the stack's time: it follows a move, and reports its work under way.
 *
 * Lanes and logs are in Redis with their due times. So only two things of the worker wait for a time that Redis does
 * not show: throttled claims, and timers of PassingTime. Everything else that the worker holds is under way.
 */
import { passingTime, type Traveller, type WorkInHand } from '@fantail/store'

interface Pending {
  readonly pending: number
}

interface TravellingParts {
  slots: { readonly inFlight: number }
  firstAttempts: { readonly queued: number }
  dispatcher: { readonly runs: number; readonly started: number }
  laneLoop: { moved(): Promise<void>; readonly takes: { running: number; total: number } }
  claimAttempts: { moved(): void; readonly open: number; readonly sendTimes: number[] }
  batches: { readonly busy: number }
  readers: { readonly busy: number }
  pushConsumers: { readonly busy: number }
  sweep: { moved(): void; readonly isBusy: boolean }
  recorder: { readonly isWriting: boolean }
  parking: Pending
  settling: Pending
  pacing: Pending
}

export function createTraveller(parts: TravellingParts): Traveller {
  const { laneLoop, claimAttempts, sweep } = parts
  return {
    async moved() {
      await laneLoop.moved()
      claimAttempts.moved()
      sweep.moved()
    },
    work: () => workOf(parts),
  }
}

function workOf(parts: TravellingParts): WorkInHand {
  const { laneLoop, claimAttempts, dispatcher, sweep, recorder } = parts
  const { sendTimes } = claimAttempts
  const { running, total } = laneLoop.takes
  const counts: [number, string][] = [
    [parts.slots.inFlight, 'attempts'],
    [parts.firstAttempts.queued, 'queued first attempts'],
    [dispatcher.runs, 'dispatch jobs'],
    [running, 'takes'],
    [claimAttempts.open - sendTimes.length, 'claims'],
    [parts.batches.busy, 'batched claims'],
    [parts.readers.busy, 'FIFO logs'],
    [parts.pushConsumers.busy, 'push consumers'],
    [parts.parking.pending + parts.settling.pending + parts.pacing.pending, 'unwritten results'],
    [Number(recorder.isWriting), 'unwritten outcomes'],
    [Number(sweep.isBusy), 'retention sweep'],
  ]
  return {
    busy: counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`),
    activity: total + dispatcher.started,
    ...(sendTimes.length > 0 && { dueAt: Math.min(...sendTimes) }),
  }
}

/** The time by which requests are signed. Others check it by their own clocks, so it is never moved. */
export function realClock(now: () => number): () => number {
  return () => passingTime.realOf(now())
}
