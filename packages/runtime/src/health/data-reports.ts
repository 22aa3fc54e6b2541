/** Logs and counts what a service does with data of others: entries of the quarantine, and ends of leases. */
import type { NewEntry, OnLeaseEnd, Quarantined } from '@fantail/store'
import type { Metrics } from '@fantail/telemetry'
import type { Logger } from '../loops/logger.ts'

export interface ReportsTo {
  metrics: Pick<Metrics, 'quarantineAdded' | 'quarantineRefused' | 'queueMessagesExpired'>
  log: Pick<Logger, 'info' | 'error'>
}

/** For `onTry` of a Quarantine. It logs each new entry, and when the quarantine becomes full and ceases to be. */
export function reportQuarantine({ metrics, log }: ReportsTo) {
  let isFull = false
  return (result: Quarantined, { raw, ...entry }: NewEntry): void => {
    const labels = { cause: entry.reason }
    if (result === 'added') {
      metrics.quarantineAdded.of(labels).add()
      log.error({ ...entry, rawBytes: Buffer.byteLength(raw) }, 'quarantine.added')
    }
    if (result === 'full') metrics.quarantineRefused.of(labels).add()
    if (isFull === (result === 'full')) return
    isFull = result === 'full'
    if (isFull) log.error({ ...entry, rawBytes: Buffer.byteLength(raw) }, 'quarantine.full')
    else log.info({}, 'quarantine.has_capacity')
  }
}

/** For `onLeaseEnd` of Queues. Their names may be random, so the count has no label. */
export function reportLeaseEnds({ metrics, log }: ReportsTo): OnLeaseEnd {
  return (queueArn, messages) => {
    metrics.queueMessagesExpired.of({}).add(messages)
    log.info({ queueArn, messages }, 'queue.lease_ended')
  }
}
