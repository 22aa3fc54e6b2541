/**
 * The worker's side of all dispatch queues. These are the queues that publishers write to (FANTAIL_QUEUES), and surplus
 * queues until they are empty. A queue is surplus if FANTAIL_QUEUES was higher before.
 */
import { batch, DISPATCH_QUEUES_MAX, type Redis, replies } from '@fantail/store'
import { dispatchQueueName, queuePrefix } from '../bullmq/bull.ts'
import type { ConsumerLog } from '../bullmq/consumer-log.ts'
import type { DispatchConsumer } from './dispatch-consumer.ts'
import { RepeatedErrors } from './repeated-errors.ts'

const SEARCH_EVERY_WATCHES = 10
/**
 * Searches that must find a surplus dispatch queue empty. After it: the worker leaves the queue. A job may move between
 * two of the lists while they are read, and an old publisher may still write to the queue.
 */
const EMPTY_SEARCHES_MIN = 3

interface DispatchConsumersOptions {
  redis: Redis
  /** FANTAIL_QUEUES. */
  queues: number
  create(queue: number): DispatchConsumer
  log: ConsumerLog
  /** How many calls of `watch` there are between two searches for surplus queues; default 10. */
  searchEveryWatches?: number
}

interface Surplus {
  consumer: DispatchConsumer
  emptySearches: number
}

export class DispatchConsumers {
  readonly #options: DispatchConsumersOptions
  readonly #own: DispatchConsumer[]
  readonly #surplus = new Map<number, Surplus>()
  #searching: Promise<void> | undefined
  /** Calls of `watch` until the next search. */
  #nextSearchIn = 0
  #stopped = false
  readonly #errors = new RepeatedErrors()

  constructor(options: DispatchConsumersOptions) {
    this.#options = options
    this.#own = Array.from({ length: options.queues }, (_, queue) => options.create(queue))
  }

  /** Those that run now. */
  all(): DispatchConsumer[] {
    return [...this.#own, ...[...this.#surplus.values()].map(({ consumer }) => consumer)]
  }

  /** Surplus queues that are being emptied. */
  get draining(): number[] {
    return [...this.#surplus.keys()]
  }

  async start(): Promise<void> {
    await Promise.all(this.#own.map((consumer) => consumer.start()))
    this.#search()
  }

  /** Must be called once a second. It issues all commands before it returns, so that they can share a round trip. */
  watch(): void {
    for (const consumer of this.all()) void consumer.watch()
    this.#nextSearchIn--
    if (this.#nextSearchIn <= 0 && !this.#searching && !this.#stopped) this.#search()
  }

  /** Takes no more jobs. Resolves when the running jobs are done. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#searching
    await Promise.all(this.all().map((consumer) => consumer.stop()))
  }

  #search(): void {
    this.#nextSearchIn = this.#options.searchEveryWatches ?? SEARCH_EVERY_WATCHES
    this.#searching = this.#follow()
      .catch((error: Error) => {
        if (this.#errors.isNew(error))
          this.#options.log.warn({ error: error.message }, 'dispatch.search_failed')
      })
      .finally(() => {
        this.#searching = undefined
      })
  }

  async #follow(): Promise<void> {
    const { redis, queues } = this.#options
    const numbers = Array.from({ length: DISPATCH_QUEUES_MAX - queues }, (_, i) => queues + i)
    const checks = batch(redis)
    for (const number of numbers) checks.exists(...jobLists(number))
    const found = (await replies(checks)) as number[]
    for (const [i, number] of numbers.entries()) await this.#followOne(number, (found[i] ?? 0) > 0)
  }

  async #followOne(number: number, filled: boolean): Promise<void> {
    const surplus = this.#surplus.get(number)
    if (surplus) surplus.emptySearches = filled ? 0 : surplus.emptySearches + 1
    if (!surplus && filled && !this.#stopped) await this.#begin(number)
    if (!surplus || surplus.emptySearches < EMPTY_SEARCHES_MIN) return
    this.#surplus.delete(number)
    this.#options.log.info({ queue: dispatchQueueName(number) }, 'dispatch.surplus_queue_drained')
    await surplus.consumer.stop()
  }

  async #begin(number: number): Promise<void> {
    this.#options.log.info({ queue: dispatchQueueName(number) }, 'dispatch.surplus_queue_found')
    const consumer = this.#options.create(number)
    try {
      await consumer.start()
      this.#surplus.set(number, { consumer, emptySearches: 0 })
    } catch (error) {
      await consumer.stop()
      throw error
    }
  }
}

function jobLists(number: number): string[] {
  const name = dispatchQueueName(number)
  return ['wait', 'active', 'delayed', 'prioritized', 'paused'].map(
    (list) => `${queuePrefix(name)}:${name}:${list}`,
  )
}
