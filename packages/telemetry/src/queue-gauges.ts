/** The gauges of queues in a scrape, by CloudWatch's names. */
import type { AwsInstruments } from './aws-metrics.ts'

export interface QueueObservation {
  /** The queue's name. Equal names in several accounts and regions are added up. */
  queue: string
  visible: number
  inFlight: number
  delayed: number
  /** null if nothing waits. */
  oldestSeconds: number | null
  /** FIFO: message groups in flight. */
  groupsInFlight?: number
}

/** Called at every scrape. The source bounds the number of queues. */
export type QueueSource = () => Promise<QueueObservation[]>

export function showQueues(instruments: AwsInstruments, observed: QueueObservation[]): void {
  const { queueVisible, queueNotVisible, queueDelayed, queueOldestSeconds, queueGroupsInFlight } = instruments
  const gauges = [queueVisible, queueNotVisible, queueDelayed, queueOldestSeconds, queueGroupsInFlight]
  for (const gauge of gauges) gauge.clear()
  for (const { queue, visible, inFlight, delayed, oldestSeconds, groupsInFlight } of observed) {
    const labels = { QueueName: queue }
    queueVisible.of(labels).add(visible)
    queueNotVisible.of(labels).add(inFlight)
    queueDelayed.of(labels).add(delayed)
    if (groupsInFlight !== undefined) queueGroupsInFlight.of(labels).add(groupsInFlight)
    const oldest = queueOldestSeconds.of(labels)
    oldest.value = Math.max(oldest.value, oldestSeconds ?? 0)
  }
}
