/**
 * Counts operations on queues, by queue name. The series are kept here, because a look-up by labels costs as much as
 * counting.
 */
import { nameOfArn } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import type { AwsInstruments } from './aws-metrics.ts'

/** Queues whose series a process keeps at hand. Past it: the series of the least recently used queue are dropped. */
const COUNTED_QUEUES_MAX = 10_000

type Series = ReturnType<typeof seriesOf>

export class QueueCounter {
  readonly #instruments: AwsInstruments
  readonly #byArn = new LRUCache<string, Series>({ maxSize: COUNTED_QUEUES_MAX, sizeCalculation: () => 1 })

  constructor(instruments: AwsInstruments) {
    this.#instruments = instruments
  }

  /** Counts messages that were added. `sizes`: their bytes. */
  sent(arn: string, sizes: number[]): void {
    const series = this.#of(arn)
    series.sent.add(sizes.length)
    for (const size of sizes) series.sizes.record(size)
  }

  /** Counts messages that were sent again within the time of deduplication, and so were not added. */
  deduplicated(arn: string, messages: number): void {
    this.#of(arn).deduplicated.add(messages)
  }

  received(arn: string, messages: number): void {
    this.#of(arn).received.add(messages)
  }

  emptyReceive(arn: string): void {
    this.#of(arn).emptyReceives.add()
  }

  deleted(arn: string, messages: number): void {
    this.#of(arn).deleted.add(messages)
  }

  #of(arn: string): Series {
    const known = this.#byArn.get(arn)
    if (known) return known
    const series = seriesOf(this.#instruments, nameOfArn(arn))
    this.#byArn.set(arn, series)
    return series
  }
}

function seriesOf(instruments: AwsInstruments, QueueName: string) {
  return {
    sent: instruments.queueSent.of({ QueueName }),
    sizes: instruments.queueSentSizeBytes.of({ QueueName }),
    deduplicated: instruments.queueDeduplicated.of({ QueueName }),
    received: instruments.queueReceived.of({ QueueName }),
    emptyReceives: instruments.queueEmptyReceives.of({ QueueName }),
    deleted: instruments.queueDeleted.of({ QueueName }),
  }
}
