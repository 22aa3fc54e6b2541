/** The layer of tasks: redrives, resends and purges, with the live events of what they send. */
import { bodySealsOf } from '@fantail/delivery'
import {
  ArchivePages,
  FailedEnds,
  hearListeners,
  LiveSender,
  OutcomeLog,
  RedriveBatches,
  ResendBatches,
  Snapshots,
} from '@fantail/store'
import { FilterMatches } from '../tasks/filter-matches.ts'
import { createTaskJobs, type TaskJobs } from '../tasks/task-jobs.ts'
import type { ArchiveWork } from './archive-work.ts'
import type { RedriveGround } from './redrive-ground.ts'
import type { RedriveServiceOptions } from './redrive-options.ts'

export interface TaskWork {
  tasks: TaskJobs
  live: LiveSender
  /** Ends listening for listeners of live events. */
  stopHearing(): void
}

export function createTaskWork(below: RedriveGround & ArchiveWork, options: RedriveServiceOptions): TaskWork {
  const { connections, redis, acks, subscriptions, lanes, unreadable, clock } = below
  const { seals = bodySealsOf(undefined), queues = 1, logMessages = 0, log } = options
  const { subscriber } = connections
  const filters = new FilterMatches(seals)
  const snapshots = new Snapshots(redis, { onUnreadable: () => undefined })
  const outcomes = new OutcomeLog(redis, snapshots, lanes, { queues, entriesMax: logMessages })
  const resends = new ResendBatches({
    redis,
    acks,
    archive: below.blocks && new ArchivePages(redis, below.blocks),
    subscriptions,
    lanes,
    failed: new FailedEnds(redis, lanes),
    matches: (record, message) => filters.ask(record, message),
    // The entry only shows that the delivery waits again. Its end has an entry of its own.
    onResent: (resent) =>
      outcomes
        .append({ dispatch: [], lanes: [], resent })
        .catch((error: unknown) => log.debug({ err: error }, 'resend.note_failed')),
  })
  const live = new LiveSender(redis)
  const stopHearing = hearListeners(subscriber, live)
  const tasks = createTaskJobs({
    redisUrl: options.redisUrl,
    redis,
    subscriber,
    redrives: below.redrives,
    batches: new RedriveBatches({ redis, acks, subscriptions, lanes }),
    resends,
    storageGuard: below.storageGuard,
    onUnreadable: unreadable.report,
    log,
    telemetry: options.telemetry,
    metrics: below.metrics,
    events: { live, now: clock.now },
  })
  return { tasks, live, stopHearing }
}
