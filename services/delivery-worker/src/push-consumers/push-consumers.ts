/**
 * Runs the push consumers of all queues in this worker. Every worker runs all consumers. A receive also takes a lease,
 * and the leases divide the work among the workers. Pub/sub notices announce new, changed and deleted consumers. In
 * addition, all consumers are read once a minute. The worker subscribes to wakes of queues only while there is a
 * consumer.
 */
import type { PushConsumerRecord } from '@fantail/contracts'
import type { HttpSender } from '@fantail/delivery'
import {
  createLoop,
  createStateLog,
  type Logger,
  type ReportState,
  type WakeableLoop,
} from '@fantail/runtime'
import {
  isUnreadable,
  PushConsumerRecords,
  type Queues,
  type Redis,
  WAKE_PUSH_CONSUMERS,
  WAKE_QUEUES,
} from '@fantail/store'
import type { Metrics, Spans } from '@fantail/telemetry'
import { type BatchTools, createPushConsumerMetrics } from './push-batch.ts'
import { PushCapacity } from './push-capacity.ts'
import { PushConsumer } from './push-consumer.ts'
import { PushLeases } from './push-leases.ts'

const PUSH_CONSUMER_SWEEP_MS = 60_000
/** Time that running requests get when the process stops. */
const STOP_GRACE_MS = 10_000

interface PushConsumersOptions {
  redis: Redis
  /** A connection for subscriptions. It is shared with other subscribers, and is not closed here. */
  subscriber: Redis
  queues: Queues
  sender: Pick<HttpSender, 'send'>
  functions: BatchTools['functions']
  vault: BatchTools['vault']
  metrics: Metrics
  spans: Pick<Spans, 'on' | 'start'>
  log: Logger
}

export class PushConsumers {
  readonly #options: PushConsumersOptions
  readonly #consumers: PushConsumerRecords
  readonly #tools: BatchTools
  readonly #leases: PushLeases
  readonly #capacity = new PushCapacity()
  readonly #reportStorage: ReportState
  readonly #sweep: WakeableLoop
  /** Queue → name → consumer. */
  readonly #running = new Map<string, Map<string, PushConsumer>>()
  /** Consumers that were removed or stopped, and still have running batches. */
  readonly #ending = new Set<PushConsumer>()
  /** Queues whose consumers are being read again. true: another notice has come since. */
  readonly #reading = new Map<string, boolean>()
  #listening = false
  #stopped = false

  constructor(options: PushConsumersOptions) {
    const { redis, queues, sender, functions, vault, spans, log } = options
    this.#options = options
    this.#consumers = new PushConsumerRecords(redis)
    const metrics = createPushConsumerMetrics(options.metrics)
    this.#tools = { queues, sender, functions, vault, metrics, spans, log }
    this.#leases = new PushLeases({ consumers: this.#consumers, log })
    this.#reportStorage = createStateLog({ log, what: 'push_consumers', initial: 'up' })
    this.#sweep = createLoop({ name: 'push_consumer_sweep', log, round: () => this.#readAll() })
  }

  start(): void {
    const { subscriber } = this.#options
    subscriber.on('ready', this.#subscribe)
    subscriber.on('message', this.#heard)
    if (subscriber.status === 'ready') this.#subscribe()
    this.#sweep.start()
  }

  /**
   * Begins no more batches, and waits shortly for running ones. Messages of an interrupted batch become visible again
   * after their visibility timeout.
   */
  async stop(): Promise<void> {
    this.#options.subscriber.off('ready', this.#subscribe).off('message', this.#heard)
    await this.#sweep.stop()
    for (const arn of [...this.#running.keys()]) this.#apply(arn, [])
    this.#stopped = true
    const ending = [...this.#ending]
    const cut = setTimeout(() => {
      for (const consumer of ending) consumer.cut()
    }, STOP_GRACE_MS)
    await Promise.all(ending.map((consumer) => consumer.whenIdle()))
    clearTimeout(cut)
    await this.#leases.stop()
  }

  readonly #subscribe = (): void => {
    this.#listening = false
    // This fails only if the connection breaks. The next 'ready' then starts it again.
    this.#options.subscriber.subscribe(WAKE_PUSH_CONSUMERS).then(
      () => {
        this.#sweep.wake()
        this.#listen()
      },
      () => undefined,
    )
  }

  readonly #heard = (channel: string, arn: string): void => {
    if (channel === WAKE_QUEUES) {
      for (const consumer of this.#running.get(arn)?.values() ?? []) consumer.wake()
    } else if (channel === WAKE_PUSH_CONSUMERS) {
      this.#readQueue(arn)
    }
  }

  /** Reads the queue's consumers again, and once more if a notice arrives meanwhile. */
  #readQueue(arn: string): void {
    const reading = this.#reading.has(arn)
    this.#reading.set(arn, reading)
    if (reading) return
    this.#consumers.of(arn).then(
      (found) => {
        this.#apply(arn, found?.map(({ consumer }) => consumer) ?? [])
        this.#read(arn)
      },
      (error: unknown) => {
        this.#reportStorage('down', error)
        this.#reading.delete(arn)
        // The next sweep tries data that cannot be read again. A sweep at once would not end.
        if (!isUnreadable(error)) this.#sweep.wake()
      },
    )
  }

  #read(arn: string): void {
    const again = this.#reading.get(arn)
    this.#reading.delete(arn)
    if (again) this.#readQueue(arn)
  }

  /**
   * Finds changes whose notices were lost. If a queue differs, it is read once more by itself. A notice may have come
   * since, and this older answer must not undo it.
   */
  async #readAll(): Promise<number> {
    const gone = new Set(this.#running.keys())
    for (const { arn, consumers, nextVisibleInMs } of await this.#consumers.all()) {
      gone.delete(arn)
      const running = this.#running.get(arn)
      if (!running || consumers.length !== running.size || !consumers.every(isKnownTo(running))) {
        this.#readQueue(arn)
      }
      if (nextVisibleInMs === null) continue
      for (const consumer of running?.values() ?? []) consumer.pollIn(nextVisibleInMs)
    }
    for (const arn of gone) this.#readQueue(arn)
    this.#reportStorage('up')
    return PUSH_CONSUMER_SWEEP_MS
  }

  #apply(arn: string, records: PushConsumerRecord[]): void {
    if (this.#stopped) return
    const running = this.#running.get(arn) ?? new Map<string, PushConsumer>()
    const names = new Set(records.map(({ name }) => name))
    for (const [name, consumer] of running) {
      if (names.has(name)) continue
      running.delete(name)
      this.#end(consumer)
    }
    for (const record of records) this.#configure(running, record)
    if (running.size > 0) this.#running.set(arn, running)
    else this.#running.delete(arn)
    this.#listen()
  }

  #configure(running: Map<string, PushConsumer>, record: PushConsumerRecord): void {
    const known = running.get(record.name)
    if (known) {
      known.configure(record)
      return
    }
    const consumer = new PushConsumer(
      {
        tools: this.#tools,
        queues: this.#options.queues,
        capacity: this.#capacity,
        leases: this.#leases,
        reportStorage: this.#reportStorage,
        onChanged: () => this.#readQueue(record.queueArn),
      },
      record,
    )
    running.set(record.name, consumer)
    consumer.poll()
  }

  #end(consumer: PushConsumer): void {
    consumer.close()
    this.#ending.add(consumer)
    void consumer.whenIdle().then(() => this.#ending.delete(consumer))
  }

  /** How many consumers push, or poll for messages. */
  get busy(): number {
    const all = [...this.#running.values()].flatMap((consumers) => [...consumers.values()])
    return [...all, ...this.#ending].filter(({ isBusy }) => isBusy).length
  }

  /** Each message that is sent wakes all listeners, so only processes with consumers listen. */
  #listen(): void {
    const wanted = this.#running.size > 0
    const { subscriber } = this.#options
    if (wanted === this.#listening || subscriber.status !== 'ready') return
    this.#listening = wanted
    const change = wanted ? subscriber.subscribe(WAKE_QUEUES) : subscriber.unsubscribe(WAKE_QUEUES)
    // This fails only if the connection breaks. Afterwards everything is read again.
    change.then(
      () => this.#pollAll(),
      () => undefined,
    )
  }

  #pollAll(): void {
    for (const consumers of this.#running.values()) for (const consumer of consumers.values()) consumer.poll()
  }
}

function isKnownTo(running: Map<string, PushConsumer>) {
  return ({ name, revision }: PushConsumerRecord) => running.get(name)?.revision === revision
}
