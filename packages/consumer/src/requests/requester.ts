/**
 * Sends requests to queues, and waits for their replies. All replies come to one queue, which belongs to this requester
 * alone. The queue has a lease: `close` deletes it, and after a crash the server does.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { consume } from '../consume.ts'
import type { ConsumerEventMap } from '../consumer-events.ts'
import type { Consumer } from '../queue-consumer.ts'
import type { QueueMessage } from '../sources/messages.ts'
import { type CallQueue, type FantailQueueOptions, QueueError, queueApi } from '../sources/native-api.ts'
import { fantailQueue } from '../sources/native-source.ts'
import { PendingRequests } from './pending-requests.ts'
import { readReply, requestAttributes } from './request-attributes.ts'
import { RequestError } from './request-errors.ts'

export interface RequesterOptions extends FantailQueueOptions {
  /** The beginning of the reply queue's name. Default: `replies`. */
  name?: string
  /** How long the reply queue stays after a crash, 60 to 1,209,600. Default: 3,600. */
  leaseSeconds?: number
  /** Requests that may wait for replies at the same time. Default: 1,000. */
  pendingMax?: number
  /** Called when a request about the reply queue failed. It is tried again. Default: a process warning. */
  onProblem?: (error: unknown) => void
}

export interface RequestOptions {
  /** How long to wait for the reply. Default: 30,000. */
  timeoutMs?: number
  signal?: AbortSignal
}

const REPLY_QUEUE = 'replies'
const REPLY_LEASE = 3_600
/** @limit Requests that wait for replies, if the caller sets no bound. Past it: they are refused as `full`. */
const PENDING_REQUESTS_MAX = 1_000
/** The wait for a reply, if the caller sets none. Past it: the request has timed out. */
const REPLY_MS_MAX = 30_000
/** The wait for a reply that a caller may set: 14 days, as long as a queue can keep it. Past it: `TypeError`. */
const REPLY_WAIT_MS_MAX = 1_209_600_000
/** Time of a request about a reply queue. Past it: it has failed. */
const REPLY_QUEUE_REQUEST_MS_MAX = 10_000
/** Replies are taken as fast as they come, because handling one takes no time. */
const REPLIES_AT_ONCE = 100

export class Requester {
  /** The name of the reply queue. */
  readonly replyQueue: string
  readonly #options: RequesterOptions
  readonly #call: CallQueue
  readonly #pending = new PendingRequests()
  #consumer: Consumer | undefined
  #closed: Promise<void> | undefined

  /** `createRequester` makes one. */
  constructor(options: RequesterOptions) {
    this.#options = options
    this.#call = queueApi(options)
    this.replyQueue = `${options.name ?? REPLY_QUEUE}-${randomBytes(8).toString('hex')}`
  }

  /** Requests that wait for replies. */
  get pending(): number {
    return this.#pending.size
  }

  /** Makes the reply queue, and begins to receive from it. */
  async open(): Promise<void> {
    await this.#makeQueue()
    const consumer = consume(
      fantailQueue(this.replyQueue, this.#options),
      (message) => this.#takeReply(message),
      { concurrency: REPLIES_AT_ONCE },
    )
    const onProblem = (...[error]: ConsumerEventMap['problem']) => this.#onProblem(error)
    consumer.on('problem', onProblem)
    this.#consumer = consumer
  }

  /**
   * Resolves with the body of the reply. `body` is sent as text; anything but a string as JSON. Rejects with a
   * RequestError, or with the error of the send. The request may still be carried out after its deadline has passed.
   */
  async request(queue: string, body: unknown, options: RequestOptions = {}): Promise<string> {
    const { timeoutMs = REPLY_MS_MAX, signal } = options
    if (!(timeoutMs > 0 && timeoutMs <= REPLY_WAIT_MS_MAX))
      throw new TypeError(`timeoutMs must be more than 0 and at most ${REPLY_WAIT_MS_MAX}, not ${timeoutMs}`)
    const correlationId = randomUUID()
    const { pendingMax = PENDING_REQUESTS_MAX } = this.#options
    if (this.#closed) throw new RequestError('closed', correlationId, 'the requester is closed')
    if (this.pending >= pendingMax)
      throw new RequestError('full', correlationId, `${pendingMax} requests wait for replies`)
    const reply = this.#pending.add({ correlationId, timeoutMs, signal })
    reply.catch(() => undefined) // The send may fail first.
    await this.#send(queue, { correlationId, body, timeoutMs, signal })
    return reply
  }

  /** Rejects waiting requests as `closed`, and deletes the reply queue. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    this.#pending.failAll('closed', 'the requester was closed')
    await this.#consumer?.stop()
    const signal = AbortSignal.timeout(REPLY_QUEUE_REQUEST_MS_MAX)
    await this.#call({ method: 'DELETE', queue: this.replyQueue, signal })
  }

  async #makeQueue(): Promise<void> {
    const { leaseSeconds = REPLY_LEASE } = this.#options
    const signal = AbortSignal.timeout(REPLY_QUEUE_REQUEST_MS_MAX)
    await this.#call({ method: 'PUT', queue: this.replyQueue, body: { leaseSeconds }, signal })
  }

  async #send(queue: string, { correlationId, body, timeoutMs, signal }: Sent): Promise<void> {
    const deadline = Math.ceil(Date.now() + timeoutMs)
    const message = {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      attributes: requestAttributes({ correlationId, replyTo: this.replyQueue, deadline }),
    }
    const limit = AbortSignal.timeout(Math.ceil(timeoutMs))
    const signals = AbortSignal.any([limit, ...(signal ? [signal] : [])])
    try {
      await this.#call({ queue, action: 'messages', body: message, signal: signals })
    } catch (error) {
      // The deadline or the caller has ended the request. `reply` then rejects with the reason.
      if (signals.aborted) return
      this.#pending.fail(correlationId, 'aborted', 'the request could not be sent', error)
      throw error
    }
  }

  /** A reply whose request is not waiting came too late, or a second time. */
  #takeReply(message: QueueMessage): void {
    const reply = readReply(message)
    if (reply?.outcome === 'ok') this.#pending.resolve(reply.correlationId, message.body)
    else if (reply) this.#pending.fail(reply.correlationId, 'refused', message.body)
  }

  /** If the process slept longer than the lease, the queue and its replies are gone. Requests then time out. */
  #onProblem(error: unknown): void {
    this.#report(error)
    if (!(error instanceof QueueError) || error.code !== 'not_found' || this.#closed) return
    this.#makeQueue().catch((failure) => this.#report(failure))
  }

  #report(error: unknown): void {
    const { onProblem = (problem) => process.emitWarning(`the queue of replies failed: ${problem}`) } =
      this.#options
    onProblem(error)
  }
}

interface Sent {
  correlationId: string
  body: unknown
  timeoutMs: number
  signal: AbortSignal | undefined
}

/** Resolves when replies can be received. The key needs the scopes `manage`, `consume` and `publish`. */
export async function createRequester(options: RequesterOptions = {}): Promise<Requester> {
  const requester = new Requester(options)
  await requester.open()
  return requester
}
