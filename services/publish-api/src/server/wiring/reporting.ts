/** The layer of reports about the API's work: statistics, the audit log, and live events. */
import { createStateLog } from '@fantail/runtime'
import { AuditReader, AuditWriter, StatsCounter, StatsStore } from '@fantail/store'
import { createEvents } from '../../events/event-listeners.ts'
import { PublishCounts, StatsReads } from '../../stats/stats-reads.ts'
import type { ApiGround } from './api-ground.ts'
import type { PublishApiOptions } from './api-options.ts'

export type Reporting = ReturnType<typeof createReporting>

export function createReporting(
  { connections, redis, now, snapshots }: ApiGround,
  { settings, log, telemetry, auditFile }: PublishApiOptions,
) {
  const statsStore = new StatsStore(redis)
  const onFlush = createStateLog({ log, what: 'stats', initial: 'up' })
  const statsCounter = new StatsCounter({ store: statsStore, now, onFlush })
  const onWrite = createStateLog({ log, what: 'audit', initial: 'up' })
  return {
    statsStore,
    statsCounter,
    publishCounts: new PublishCounts({ metrics: telemetry.metrics, statsCounter, clock: now }),
    stats: new StatsReads({ store: statsStore, clock: now }),
    auditFile,
    auditWriter: new AuditWriter({ redis, now, onWrite }),
    auditReader: new AuditReader(redis),
    ...createEvents({
      ...connections,
      snapshots,
      queues: settings.queues,
      logMessages: settings.logMessages,
      clock: now,
      log,
    }),
  }
}
