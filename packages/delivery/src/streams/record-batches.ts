/**
 * Gathers the records that attempts bring for one sink, and puts them together. Each attempt gets the result of its own
 * record. A batch goes when it is full, or when its first record has waited for BATCH_LINGER_MS.
 */
import type { AttemptResult } from '@fantail/contracts'
import { failure } from '../http/attempt-failure.ts'
import type { StreamRecord, StreamSink } from './stream-sink.ts'

/** @limit Time that a stream's record waits for others. After it: they are put together. */
const BATCH_LINGER_MS = 50

interface RecordCallbacks {
  /** Called once, never before `add` has returned. */
  done: (result: AttemptResult) => void
  /** The record's batch is being put. */
  onPut?: () => void
}

interface Waiting extends RecordCallbacks {
  record: StreamRecord
}

interface RecordBatchesOptions {
  sink: StreamSink
  /** From a record's arrival to its result. */
  timeoutMs: number
}

export class RecordBatches {
  readonly #options: RecordBatchesOptions
  #waiting: Waiting[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: RecordBatchesOptions) {
    this.#options = options
  }

  get credential(): string {
    return this.#options.sink.credential
  }

  add(record: StreamRecord, { done, onPut }: RecordCallbacks): void {
    const { recordsMax, bytesMax, recordBytesMax } = this.#options.sink
    const { length } = record.data
    if (length > recordBytesMax) {
      const detail = `the record has ${length} bytes, and the stream takes ${recordBytesMax}`
      setImmediate(done, failure('invalid_record', detail, 0, true))
      return
    }
    if (this.#bytes + length > bytesMax) this.#flush()
    this.#waiting.push({ record, done, ...(onPut && { onPut }) })
    this.#bytes += length
    if (this.#waiting.length >= recordsMax) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), this.#lingerMs)
  }

  /** A short deadline leaves the request the greater part. */
  get #lingerMs(): number {
    return Math.min(BATCH_LINGER_MS, this.#options.timeoutMs / 4)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    if (batch.length > 0) void this.#put(batch)
  }

  async #put(batch: Waiting[]): Promise<void> {
    const { sink, timeoutMs } = this.#options
    const records = batch.map(({ record }) => record)
    for (const { onPut } of batch) onPut?.()
    const results = await sink.put(records, Math.max(1, timeoutMs - this.#lingerMs))
    for (const [index, { done }] of batch.entries()) {
      done(results[index] ?? failure('invalid_response', 'the sink has no result for the record', 0))
    }
  }
}
