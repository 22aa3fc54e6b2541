/** All sweeps, in their order. Each finds work whose signal was lost, or data that is too old. */
import {
  ApiKeys,
  AttemptStore,
  archivedTopics,
  mendDueSets,
  PlatformApplications,
  type Redis,
  SigningKeys,
  sweepHolds,
  Topics,
} from '@fantail/store'
import type { ArchiveWork } from './archive-work.ts'
import type { RedriveGround } from './redrive-ground.ts'
import type { TaskWork } from './task-work.ts'

/** Each sweep returns how much it did. `failed`: whether a sweep before it has failed. */
export function sweepsOf(service: RedriveGround & ArchiveWork & TaskWork) {
  const { redis, tasks, redrives, queues, kept, archiver, subscriptions, pushConsumers, unreadable } = service
  const topics = new Topics(redis)
  const attempts = new AttemptStore(redis)
  const signing = new SigningKeys(redis)
  const keys = new ApiKeys(redis)
  const applications = new PlatformApplications(redis)
  return {
    tasks: () => tasks.addMissing(),
    redrives: () => redrives.sweep(unreadable.report),
    queues: () => queues.sweep(),
    kept: () => kept.sweep(),
    archives: () => (archiver ? archiver.sweep() : refuseArchives(redis)),
    replays: () => sweepHolds(redis, { subscriptions, redrives }),
    topics: () => topics.resumeDeletions(),
    subscriptions: () => subscriptions.expirePending(),
    attempts: () => attempts.sweep(unreadable.report),
    dueSets: () => mendDueSets(redis, unreadable.report),
    signing: () => signing.sweep(unreadable.report),
    keys: () => keys.sweep(unreadable.report),
    pushConsumers: () => pushConsumers.all().then(() => 0),
    applications: () => applications.sweep(unreadable.report),
    indexes: () => unreadable.sweepIndexes(redis),
    unreadable: (failed: boolean) => unreadable.sweep(failed),
  }
}

/** Rejects if topics have archives, because the messages of these would stay in Redis until it is full. */
async function refuseArchives(redis: Redis): Promise<number> {
  const [first] = await archivedTopics(redis)
  if (first)
    throw new Error(`${first.arn} has an archive: FANTAIL_ARCHIVE must also be set for the redrive service`)
  return 0
}
