/**
 * One push consumer in one worker. It looks for messages after a wake, at a known time, or when a batch has ended. A
 * batch begins when a receive returns messages. The receive also says whether another share of the consumer's
 * concurrency is free, over all workers. Nothing runs while there is nothing to push.
 *
 * waiting ──wake, time──▶ receiving ──messages──▶ a batch runs; receiving again while there are shares
 *    ▲                        │ nothing, all shares taken, batch window not over
 *    └────────────────────────┘
 *
 * After an endpoint has failed a whole batch, it gets a pause, and then one batch at a time until one succeeds.
 */
import { randomBytes } from 'node:crypto'
import { type ConsumerRecord, FantailError } from '@fantail/contracts'
import { createBackoff, type ReportState } from '@fantail/runtime'
import { type PassingTimer, passingTime, type Queues } from '@fantail/store'
import { type Batch, collectBatch } from './collect-batch.ts'
import type { ConsumerShares } from './consumer-shares.ts'
import { type MobilePushTools, pushBatch } from './push-batch.ts'
import type { Guest, PushCapacity } from './push-capacity.ts'

const BATCH_ID_BYTES = 9
/** Shortest pause between two looks of a consumer that waits only for time to pass. */
const PUSH_PAUSE_MS_MIN = 10
/**
 * Longest pause of one timer. After it: the consumer looks again. setTimeout cannot wait much longer than this. If the
 * time is later, the consumer waits again.
 */
const PUSH_PAUSE_MS_MAX = 86_400_000
/** Longest pause after batches that failed as a whole. */
const FAILING_PAUSE_MS_MAX = 30_000

/** If a credential is broken, the consumer tries once a minute, as a blocked lane does. */
const PROBE_PAUSE_MS = 60_000

interface PushConsumerOptions {
  tools: MobilePushTools
  queues: Pick<Queues, 'receiveOnce'>
  capacity: PushCapacity
  shares: ConsumerShares
  reportStorage: ReportState
  /** Called when the record may have changed. */
  onChanged: () => void
}

export class PushConsumer implements Guest {
  readonly #options: PushConsumerOptions
  #record: ConsumerRecord
  readonly #running = new Map<string, AbortController>()
  readonly #trouble = createBackoff()
  readonly #pauses = createBackoff({ maxMs: FAILING_PAUSE_MS_MAX })
  #failing = false
  /**
   * True after a failure of the configuration. Each receive counts as a try of its messages. So the consumer receives
   * only one message at a time until the configuration works again.
   */
  #misconfigured = false
  #looking = false
  #again = false
  #closed = false
  #cutShort = false
  /** By passingTime.now(). */
  #notBefore = 0
  /** Until this time, by passingTime.now(), other processes have all shares. They look for messages themselves. */
  #busyUntil = 0
  #timer: PassingTimer | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #onIdle: (() => void)[] = []

  constructor(options: PushConsumerOptions, record: ConsumerRecord) {
    this.#options = options
    this.#record = record
  }

  get revision(): string {
    return this.#record.revision
  }

  /** Whether it pushes, or looks for messages. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#looking
  }

  get batches(): number {
    return this.#running.size
  }

  /** Sets the present record. Batches under way keep the record with which they began. */
  configure(record: ConsumerRecord): void {
    if (record.revision !== this.#record.revision) this.#notBefore = 0
    this.#record = record
    this.#busyUntil = 0
    this.look()
  }

  /** Called when the queue has changed. */
  wake(): void {
    if (passingTime.now() >= this.#busyUntil) this.look()
  }

  look(): void {
    if (this.#closed || !this.#record.enabled) return
    if (this.#looking) {
      this.#again = true
      return
    }
    const pauseMs = this.#notBefore - passingTime.now()
    const atOnceMax = this.#failing ? 1 : this.#record.concurrency
    if (pauseMs > 0) {
      this.lookIn(pauseMs)
    } else if (this.#running.size < atOnceMax && this.#options.capacity.enter(this)) {
      this.#clearTimer()
      void this.#receive()
    }
  }

  /** Sets a look after this time, unless an earlier one is set. */
  lookIn(ms: number): void {
    if (this.#closed) return
    const pauseMs = Math.min(Math.max(ms, PUSH_PAUSE_MS_MIN), PUSH_PAUSE_MS_MAX)
    const at = passingTime.now() + pauseMs
    if (at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = passingTime.after(pauseMs, () => {
      this.#clearTimer()
      this.look()
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
    if (this.#running.size > 0 || this.#looking) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    }
  }

  #clearTimer(): void {
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  /** Called when the consumer has a place for a batch. */
  async #receive(): Promise<void> {
    const { queues, capacity, shares, reportStorage } = this.#options
    const record = this.#record
    const batch = randomBytes(BATCH_ID_BYTES).toString('base64url')
    const ended = shares.endedOf(record.queueArn, record.name)
    this.#looking = true
    this.#again = false
    try {
      const asked = this.#misconfigured ? { ...record, batchSize: 1 } : record
      const collected = await collectBatch(queues, { record: asked, batch, ended })
      shares.returned(ended)
      this.#trouble.reset()
      reportStorage('up')
      if (collected.messages.length > 0) this.#begin(record, batch, collected)
      else capacity.leave(0)
      this.#snapshot(collected)
    } catch (error) {
      capacity.leave(0)
      this.#failed(error)
    }
    this.#looking = false
    if (this.#again) this.look()
    this.#reportIdle()
  }

  /** Reads from a receive when to look next. */
  #snapshot({ messages, received }: Batch): void {
    const { refused, nextVisibleInMs } = received
    if (refused === 'changed') this.#options.onChanged()
    else if (messages.length > 0) this.#again = true
    else if (nextVisibleInMs !== null) {
      if (refused === 'busy') this.#busyUntil = passingTime.now() + nextVisibleInMs
      this.lookIn(nextVisibleInMs)
    }
  }

  #failed(error: unknown): void {
    if (error instanceof FantailError && error.code === 'not_found') {
      this.#options.onChanged()
      return
    }
    this.#options.reportStorage('down', error)
    const pauseMs = this.#trouble.nextMs()
    this.#notBefore = Math.max(this.#notBefore, passingTime.now() + pauseMs)
    this.lookIn(pauseMs)
  }

  #begin(record: ConsumerRecord, batch: string, { messages, bytes, hiddenUntil }: Batch): void {
    const { tools, capacity, shares } = this.#options
    const share = { queueArn: record.queueArn, consumer: record.name, batch }
    const calling = new AbortController()
    if (this.#cutShort) calling.abort()
    this.#running.set(batch, calling)
    capacity.fill(bytes)
    shares.hold(share)
    void pushBatch(tools, { record, batch, messages, hiddenUntil, signal: calling.signal }).then((end) => {
      this.#running.delete(batch)
      shares.end(share)
      this.#heed(end)
      capacity.leave(bytes)
      this.look()
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
    if (this.#running.size > 0 || this.#looking) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}
