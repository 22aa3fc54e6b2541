/** Work beside the requests: announced changes of records, gauges and notes of queues, bulk tasks, and notices. */
import { isRedisCluster } from '@fantail/contracts'
import { createLoop } from '@fantail/runtime'
import { OpenAlarms, takeRole } from '@fantail/store'
import { BulkRunner } from '../../bulk/bulk-runner.ts'
import { AnnouncedChanges } from '../../caches/announced-changes.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { NoticeWatch } from '../../notices/notice-watch.ts'
import { createQueueSource, createServiceNotes } from '../../queues/queues-in-use.ts'
import type { ApiGround } from './api-ground.ts'
import { type PublishApiOptions, publicUrlOf } from './api-options.ts'
import type { Layers } from './dependencies.ts'

export function createWatches(
  ground: ApiGround,
  layers: Layers,
  { deps, options }: { deps: ApiDeps; options: PublishApiOptions },
) {
  const { redis, now, health } = ground
  const { queues, statsStore: stats } = layers
  const { settings, log, telemetry } = options
  const bulkRunner = new BulkRunner(deps, log)
  deps.bulkRunner = bulkRunner
  telemetry.metrics.observeQueues(createQueueSource({ redis, queues, now }))
  followChanges(ground, layers, options)
  const watch = new NoticeWatch(deps, {
    alarms: new OpenAlarms(redis),
    stats,
    health,
    takeRole: (forMs) => takeRole(redis, 'notices', forMs),
    account: settings.arn.account,
    publicUrl: publicUrlOf(settings),
    failingMs: settings.noticeMinutes * 60_000,
  })
  return {
    bulkRunner,
    serviceNotes: createServiceNotes({ queues, log }),
    notices: createLoop({ name: 'notices', log, round: () => watch.round() }),
  }
}

/** Keeps the caches up to date from now on. */
function followChanges(
  { connections, redis }: ApiGround,
  layers: Layers,
  { redisUrl }: PublishApiOptions,
): void {
  const { topicCache, queueCache, keyCache, sessionCache, portalCache, finder } = layers
  const changes = new AnnouncedChanges({ subscriber: connections.subscriber, redis })
  changes.follow([topicCache, queueCache, keyCache, sessionCache, portalCache, finder])
  // Sessions also end without an announcement.
  if (!isRedisCluster(redisUrl))
    for (const cache of [topicCache, queueCache, keyCache]) cache.confirmBy(changes)
}
