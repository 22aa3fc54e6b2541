/**
 * One push consumer in one worker. It polls for messages after a wake, at a known time, or when a batch has ended. A
 * batch begins when a receive returns messages. The receive also says whether another lease of the consumer's
 * concurrency is free, over all workers. Nothing runs while there is nothing to push.
 *
 * waiting ──wake, time──▶ receiving ──messages──▶ a batch runs; receiving again while there are leases
 *    ▲                        │ nothing, all leases taken, batch window not over
 *    └────────────────────────┘
 *
 * While further messages wait, several receives run side by side. One at a time would be slow behind a distant Redis.
 *
 * After an endpoint has failed a whole batch, it gets a pause, and then one batch at a time until one succeeds.
 */
import { randomBytes } from 'node:crypto'
import { FantailError, type PushConsumerRecord } from '@fantail/contracts'
import { createBackoff, type ReportState } from '@fantail/runtime'
import { type PassingTimer, passingTime, type Queues } from '@fantail/store'
import { type Batch, collectBatch, PUSH_BATCH_BYTES_MAX } from './collect-batch.ts'
import { type BatchTools, pushBatch } from './push-batch.ts'
import type { Guest, PushCapacity } from './push-capacity.ts'
import type { PushLeases } from './push-leases.ts'

const BATCH_ID_BYTES = 9
/** Receives of a consumer that a worker makes side by side. Past it: the next one begins when one of them has ended. */
const RECEIVES_MAX = 8
/** Shortest pause between two polls of a consumer that waits only for time to pass. */
const PUSH_PAUSE_MS_MIN = 10
/**
 * Longest pause of one timer. After it: the consumer polls again. setTimeout cannot wait much longer than this. If the
 * time is later, the consumer waits again.
 */
const PUSH_PAUSE_MS_MAX = 86_400_000
/** Longest pause after batches that failed as a whole. */
const FAILING_PAUSE_MS_MAX = 30_000

/** If a credential is broken, the consumer tries once a minute, as a blocked lane does. */
const PROBE_PAUSE_MS = 60_000

interface PushConsumerOptions {
  tools: BatchTools
  queues: Pick<Queues, 'receiveOnce'>
  capacity: PushCapacity
  leases: PushLeases
  reportStorage: ReportState
  /** Called when the record may have changed. */
  onChanged: () => void
}

/** A receive under way. */
interface Receive {
  record: PushConsumerRecord
  batch: string
  assumedBytes: number
}

export class PushConsumer implements Guest {
  /** Bytes of the latest batch. Before the first: those of a large one. */
  nextBytes = PUSH_BATCH_BYTES_MAX
  readonly #options: PushConsumerOptions
  #record: PushConsumerRecord
  readonly #running = new Map<string, AbortController>()
  readonly #trouble = createBackoff()
  readonly #pauses = createBackoff({ maxMs: FAILING_PAUSE_MS_MAX })
  #failing = false
  /**
   * True after a failure of the configuration. Each receive counts as a try of its messages. So the consumer receives
   * only one message at a time until the configuration works again.
   */
  #misconfigured = false
  /** Receives under way. */
  #receiving = 0
  /** How many receives may be under way. */
  #receivesMax = 1
  #again = false
  #closed = false
  #cutShort = false
  /** By passingTime.now(). */
  #notBefore = 0
  /** Until this time, by passingTime.now(), other processes have all leases. They poll for messages themselves. */
  #busyUntil = 0
  #timer: PassingTimer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #onIdle: (() => void)[] = []

  constructor(options: PushConsumerOptions, record: PushConsumerRecord) {
    this.#options = options
    this.#record = record
  }

  get revision(): string {
    return this.#record.revision
  }

  /** Whether it pushes, or polls for messages. */
  get isBusy(): boolean {
    return this.batches > 0
  }

  get batches(): number {
    return this.#running.size + this.#receiving
  }

  /** Sets the present record. Batches under way keep the record with which they began. */
  configure(record: PushConsumerRecord): void {
    if (record.revision !== this.#record.revision) this.#notBefore = 0
    this.#record = record
    this.#busyUntil = 0
    this.poll()
  }

  /** Called when the queue has changed. */
  wake(): void {
    if (passingTime.now() >= this.#busyUntil) this.poll()
  }

  poll(): void {
    if (this.#closed || !this.#record.enabled) return
    const pauseMs = this.#notBefore - passingTime.now()
    if (pauseMs > 0) {
      this.pollIn(pauseMs)
      return
    }
    // A receive under way may be too early for what the caller has noticed.
    if (!this.#mayReceive()) this.#again = true
    while (this.#mayReceive() && this.#options.capacity.enter(this)) {
      this.#clearTimer()
      void this.#receive()
    }
  }

  #mayReceive(): boolean {
    const atOnceMax = this.#failing ? 1 : this.#record.concurrency
    return this.#receiving < this.#receivesMax && this.batches < atOnceMax
  }

  /** Sets a poll after this time, unless an earlier one is set. */
  pollIn(ms: number): void {
    if (this.#closed) return
    const pauseMs = Math.min(Math.max(ms, PUSH_PAUSE_MS_MIN), PUSH_PAUSE_MS_MAX)
    const at = passingTime.now() + pauseMs
    if (at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = passingTime.after(pauseMs, () => {
      this.#clearTimer()
      this.poll()
    })
  }

  /** Begins no further batch. Running batches continue to their end. */
  close(): void {
    this.#closed = true
    this.#clearTimer()
    this.#options.capacity.forget(this)
  }

  /** Ends running batches and receives early. */
  cut(): void {
    this.#cutShort = true
    for (const running of this.#running.values()) running.abort()
  }

  /** Resolves when neither a batch nor a receive is running. */
  async whenIdle(): Promise<void> {
    if (this.isBusy) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    }
  }

  #clearTimer(): void {
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  /** Called when the consumer has capacity for a batch. */
  async #receive(): Promise<void> {
    const { queues, leases } = this.#options
    const begun = {
      record: this.#record,
      batch: randomBytes(BATCH_ID_BYTES).toString('base64url'),
      assumedBytes: this.nextBytes,
    }
    const { record, batch } = begun
    const ended = leases.endedOf(record.queueArn, record.name)
    this.#receiving += 1
    this.#again = false
    try {
      const asked = this.#misconfigured ? { ...record, batchSize: 1 } : record
      const collected = await collectBatch(queues, { record: asked, batch, ended })
      leases.returned(ended)
      this.#received(begun, collected)
    } catch (error) {
      this.#failed(begun, error)
    }
    if (this.#again) this.poll()
    this.#reportIdle()
  }

  #received(begun: Receive, collected: Batch): void {
    this.#receiving -= 1
    this.#trouble.reset()
    this.#options.reportStorage('up')
    if (collected.messages.length > 0) this.#begin(begun, collected)
    else this.#options.capacity.leave(begun.assumedBytes)
    this.#snapshot(collected)
  }

  /** Reads from a receive when to poll next, and how many receives to make then. */
  #snapshot({ messages, bytes, received }: Batch): void {
    const { refused, nextVisibleInMs } = received
    const moreWait = messages.length > 0 && nextVisibleInMs === 0
    this.#receivesMax = moreWait ? Math.min(2 * this.#receivesMax, receivesMax(bytes)) : 1
    if (refused === 'changed') this.#options.onChanged()
    else if (messages.length > 0) this.#again = true
    else if (nextVisibleInMs !== null) {
      if (refused === 'busy') this.#busyUntil = passingTime.now() + nextVisibleInMs
      this.pollIn(nextVisibleInMs)
    }
  }

  #failed({ record, batch, assumedBytes }: Receive, error: unknown): void {
    const { capacity, onChanged, reportStorage, leases } = this.#options
    this.#receiving -= 1
    this.#receivesMax = 1
    capacity.leave(assumedBytes)
    const code = error instanceof FantailError ? error.code : undefined
    if (code === 'not_found') {
      onChanged()
      return
    }
    leases.receiveFailed({ queueArn: record.queueArn, consumer: record.name, batch })
    if (code === 'key_unavailable') {
      this.#lock(error)
      return
    }
    reportStorage('down', error)
    // Receives side by side fail together. The last one decides about the pause.
    if (this.#receiving > 0) return
    const pauseMs = this.#trouble.nextMs()
    this.#notBefore = Math.max(this.#notBefore, passingTime.now() + pauseMs)
    this.pollIn(pauseMs)
  }

  /** All visible messages are locked. This process lacks their key, which is a failure of its configuration. */
  #lock(error: unknown): void {
    const { queueArn, name: consumer } = this.#record
    this.#options.reportStorage('up')
    this.#options.tools.log.warn({ err: error, queueArn, consumer }, 'message.locked')
    this.#heed('misconfigured')
    this.pollIn(PROBE_PAUSE_MS)
  }

  #begin({ record, batch, assumedBytes }: Receive, { messages, bytes, hiddenUntil }: Batch): void {
    const { tools, capacity, leases } = this.#options
    const lease = { queueArn: record.queueArn, consumer: record.name, batch }
    const calling = new AbortController()
    if (this.#cutShort) calling.abort()
    this.#running.set(batch, calling)
    this.nextBytes = bytes
    capacity.fill(assumedBytes, bytes)
    leases.hold(lease)
    void pushBatch(tools, { record, batch, messages, hiddenUntil, signal: calling.signal }).then((end) => {
      this.#running.delete(batch)
      leases.end(lease)
      this.#heed(end)
      capacity.leave(bytes)
      this.poll()
      this.#reportIdle()
    })
  }

  #heed(end: Awaited<ReturnType<typeof pushBatch>>): void {
    this.#failing = end !== 'accepted'
    this.#misconfigured = end === 'misconfigured'
    if (end === 'accepted') this.#pauses.reset()
    else this.#notBefore = passingTime.now() + (this.#misconfigured ? PROBE_PAUSE_MS : this.#pauses.nextMs())
  }

  #reportIdle(): void {
    if (this.isBusy) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

/** Receives that bring about as much as one large batch, if their batches have this size. */
function receivesMax(batchBytes: number): number {
  const fit = Math.floor(PUSH_BATCH_BYTES_MAX / Math.max(batchBytes, 1))
  return Math.min(Math.max(fit, 1), RECEIVES_MAX)
}
