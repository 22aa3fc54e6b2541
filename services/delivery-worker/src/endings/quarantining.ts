/**
 * The worker's quarantine, with its gauges. It also moves the lists of releases before the quarantine into it.
 */
import { type Logger, reportQuarantine } from '@fantail/runtime'
import {
  moveOlderLists,
  type NewEntry,
  Quarantine,
  type Quarantined,
  type Redis,
  type ReplicaAcks,
} from '@fantail/store'
import type { Telemetry } from '@fantail/telemetry'

interface QuarantiningOptions {
  redis: Redis
  acks: Pick<ReplicaAcks, 'confirm'>
  /** FANTAIL_REDIS_MEMORY_BYTES. */
  redisMemoryBytes?: number | undefined
  telemetry: Pick<Telemetry, 'metrics'>
  log: Logger
}

export function createQuarantine({
  redis,
  acks,
  redisMemoryBytes,
  telemetry,
  log,
}: QuarantiningOptions): Quarantine {
  const { metrics } = telemetry
  const onTry = reportQuarantine({ metrics, log })
  const quarantine = new Quarantine(redis, { memoryBytes: redisMemoryBytes, acks, onTry })
  metrics.observeQuarantine(() => quarantine.figures())
  return quarantine
}

/** Entries that remain are moved at the next start. */
export async function moveOlderEntries(
  redis: Redis,
  quarantine: (entry: NewEntry) => Promise<Quarantined>,
  log: Logger,
): Promise<void> {
  try {
    const moved = await moveOlderLists(redis, quarantine)
    if (moved > 0) log.info({ moved }, 'quarantine.older_entries_moved')
  } catch (error) {
    log.warn({ err: error }, 'quarantine.older_entries_not_moved')
  }
}
