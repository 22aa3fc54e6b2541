/** A running stack with the methods that tests use. */
import { type Content, Fantail, FantailError, type PublishOptions } from '@fantail/client'
import type {
  Delivery,
  NewSubscription,
  PublishReceipt,
  QueueMessage,
  Subscription,
} from '@fantail/client/api'
import { Quiet } from './receiving/nothing-else.ts'
import { type Receiver, type ReceiverOptions, startReceiver } from './receiving/webhook-receiver.ts'
import {
  type DeliveryWait,
  type LetterWait,
  type Watched,
  waitForLetters,
  waitForState,
} from './waiting/delivery-waits.ts'
import type { PublishedMessages } from './waiting/published-messages.ts'
import { type Advanced, type AdvanceOptions, type Duration, StackTime } from './waiting/stack-time.ts'
import { standText } from './waiting/timeline-text.ts'
import { type WaitOptions, WaitTimeoutError } from './waiting/wait-until.ts'

/** A URL, or an object with a URL: a receiver, or one of its paths. */
export type Endpoint = string | { readonly url: string }

interface StackParts {
  url: string
  redisUrl: string
  messages: PublishedMessages
  /** How long waits last at most. */
  timeoutMs: number | undefined
  /** Services that have ended by themselves. */
  problems(): string[]
  logText(): string
  stop(): Promise<void>
}

/** The stack requires no key, and must not get the key in FANTAIL_API_KEY. */
const NO_KEY = 'none'
const REST_MS = 1
/** An idle stack answers within this time, even on a busy machine. */
const REST_WAIT_MS = 2_000

export class FantailStack {
  /** Origin of the API, for `FANTAIL_URL` of the tested service. */
  readonly url: string
  readonly redisUrl: string
  /** The client of `@fantail/client`, for everything for which this class has no method. */
  readonly client: Fantail
  readonly #parts: StackParts
  readonly #receivers: Receiver[] = []
  readonly #watched: Watched
  readonly #quiet: Quiet
  readonly #time: StackTime
  #stopped: Promise<void> | undefined

  constructor(parts: StackParts) {
    this.#parts = parts
    this.url = parts.url
    this.redisUrl = parts.redisUrl
    this.client = new Fantail({ url: parts.url, apiKey: NO_KEY })
    this.#time = new StackTime(parts.url)
    this.#watched = { fantail: this.client, stand: (messageIds) => this.#stand(messageIds) }
    const { messages } = parts
    // Moves the time by a moment. The answer comes when nothing is under way.
    const rest = (timeoutMs = 0) => this.advance(REST_MS, { timeoutMs: Math.max(timeoutMs, REST_WAIT_MS) })
    this.#quiet = new Quiet({ ...this.#watched, messages, receivers: this.#receivers, rest })
  }

  /** Makes a receiver that is closed with the stack. Its errors show timelines. */
  async receiver(options: ReceiverOptions = {}): Promise<Receiver> {
    const { timeoutMs, messages } = this.#parts
    const explain = () => this.#stand(messages.ids)
    const receiver = await startReceiver({ timeoutMs, explain, timeOf: (at) => this.timeOf(at), ...options })
    this.#receivers.push(receiver)
    return receiver
  }

  /**
   * Subscribes to a topic, which is made if it is missing. The endpoint gets SNS's envelope, or the message alone with
   * `rawMessageDelivery: true`. Without a `deliveryPolicy`, a failed delivery is retried three times, 20 s apart.
   */
  async subscribe(
    topic: string,
    endpoint: Endpoint,
    settings: Omit<NewSubscription, 'endpoint'> = {},
  ): Promise<Subscription> {
    const { subscribe, create } = methodsOf(this.client, topic)
    const wanted = { ...settings, endpoint: typeof endpoint === 'string' ? endpoint : endpoint.url }
    try {
      return await subscribe(wanted)
    } catch (error) {
      if (!(error instanceof FantailError) || error.code !== 'not_found') throw error
      await create()
      return subscribe(wanted)
    }
  }

  publish(topic: string, message: Content, options?: PublishOptions): Promise<PublishReceipt> {
    return this.client.topics(topic).publish(message, options)
  }

  /** Resolves when every delivery of the message, or the one to `subscription`, is delivered. */
  waitUntilDelivered(messageId: string, options: DeliveryWait = {}): Promise<Delivery[]> {
    return waitForState(this.#watched, messageId, 'delivered', this.#withTime(options))
  }

  /** Resolves when every delivery of the message, or the one to `subscription`, is in a dead-letter queue. */
  waitUntilDeadLettered(messageId: string, options: DeliveryWait = {}): Promise<Delivery[]> {
    return waitForState(this.#watched, messageId, 'deadLettered', this.#withTime(options))
  }

  /**
   * Resolves with the letters when the queue holds at least `count`. A topic's own dead-letter queue is named
   * `<topic>-dead-letters`.
   */
  waitForDeadLetters(queue: string, options: LetterWait = {}): Promise<QueueMessage[]> {
    return waitForLetters(this.#watched, queue, this.#withTime(options), () => this.#parts.messages.ids)
  }

  /**
   * Resolves when nothing is under way in the stack, all its messages are matched, and all deliveries except paused
   * ones have ended. Rejects if a receiver of the stack gets a request meanwhile. Requests to other URLs are not
   * noticed.
   */
  nothingElse(options: WaitOptions = {}): Promise<void> {
    return this.#quiet.nothingElse(this.#withTime(options))
  }

  /**
   * Moves the stack's time forward. Resolves when everything that became due meanwhile was attempted at its time and is
   * settled. Rejects if something is still under way after `timeoutMs`.
   */
  async advance(duration: Duration, options?: AdvanceOptions): Promise<Advanced> {
    try {
      return await this.#time.advance(duration, options)
    } catch (error) {
      if (error instanceof WaitTimeoutError)
        error.message += `\n${await this.#stand(this.#parts.messages.ids)}`
      throw error
    }
  }

  /** The stack's time now. */
  now(): Date {
    return this.timeOf(Date.now())
  }

  /** The stack's time at a time of this machine, such as `at` of a request. */
  timeOf(at: Date | number): Date {
    return new Date(this.#time.at(Number(at)))
  }

  /** The deliveries of a message, and the lanes, as lines of text. The errors of waits show them. */
  timeline(messageId: string): Promise<string> {
    return this.#stand([messageId])
  }

  /** The end of the logs of Redis and the services. */
  logText(): string {
    return this.#parts.logText()
  }

  /** Ends every process and removes every file of the stack. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#receivers.map((receiver) => receiver.close()))
    await this.#parts.stop()
  }

  async #stand(messageIds: readonly string[]): Promise<string> {
    return [...this.#parts.problems(), await standText(this.client, messageIds)].join('\n')
  }

  #withTime<T extends WaitOptions>(options: T): T {
    return { ...options, timeoutMs: options.timeoutMs ?? this.#parts.timeoutMs }
  }
}

function methodsOf(client: Fantail, topic: string) {
  const handle = client.topics(topic)
  return {
    subscribe: (wanted: NewSubscription) => handle.subscribe(wanted),
    create: () => handle.create(),
  }
}
