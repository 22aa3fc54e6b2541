/**
 * Publishes messages in batches. A message waits until its batch is full or `lingerMs` old, and a request may begin.
 * Each message gets its own receipt or error.
 *
 * A batch is stored as a whole under one idempotency key, so a retry of it publishes nothing twice. If the API refuses
 * some messages, it has stored none of the batch. The refused messages are rejected, and the others are sent again as a
 * new batch.
 */
import { abortedBy, FantailError, type Problem } from '../failures/client-error.ts'
import type { MessageInput, PublishReceipt } from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'

/** Messages in one request of a batching publisher. Past it: the next request takes the others. */
const REQUEST_MESSAGES_MAX = 100
/** Bytes of a batching publisher's request. Past it: the next request takes the message. */
const BATCH_BYTES_MAX = 900_000
const BATCH_LINGER_MS = 5
const PENDING = 10_000
const REQUESTS = 4

export interface BatchPublisherOptions extends Omit<CallOptions, 'signal'> {
  /** Messages per request, 1 to 100. Default: 100. */
  maxMessages?: number
  /** How long a message waits for others. Default: 5. */
  lingerMs?: number
  /** If more messages than this have no receipt yet, `ready()` waits. Default: 10,000. */
  maxPending?: number
  /** Requests at a time. Default: 4; for FIFO topics 1, which keeps their order. */
  maxRequests?: number
}

export type BatchEntryOptions = Omit<MessageInput, 'message'> & { signal?: AbortSignal | undefined }

interface Target {
  topic: string
  publishAll(messages: readonly MessageInput[], options?: CallOptions): Promise<PublishReceipt[]>
}

interface Entry {
  message: MessageInput
  bytes: number
  arrivedAt: number
  settle(result: { receipt: PublishReceipt } | { error: unknown }): void
}

export class BatchPublisher {
  readonly #target: Target
  readonly #call: CallOptions
  readonly #maxMessages: number
  readonly #lingerMs: number
  readonly #maxPending: number
  readonly #maxRequests: number
  /** Not sent yet. */
  #waiting: Entry[] = []
  /** The promises that callers of `publish` wait for. */
  readonly #unsettled = new Set<Promise<PublishReceipt>>()
  readonly #readers = new Set<() => void>()
  #requests = 0
  #flushes = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(target: Target, options: BatchPublisherOptions) {
    const {
      maxMessages = REQUEST_MESSAGES_MAX,
      lingerMs = BATCH_LINGER_MS,
      maxPending = PENDING,
      ...others
    } = options
    const { maxRequests = target.topic.endsWith('.fifo') ? 1 : REQUESTS, ...call } = others
    this.#target = target
    this.#call = call
    this.#maxMessages = checked({ maxMessages }, 1, REQUEST_MESSAGES_MAX)
    this.#lingerMs = checked({ lingerMs }, 0, 60_000)
    this.#maxPending = checked({ maxPending }, 1, 1_000_000)
    this.#maxRequests = checked({ maxRequests }, 1, 100)
  }

  /** Messages without a receipt or error. */
  get pending(): number {
    return this.#unsettled.size
  }

  /** Resolves when the message is stored. Await `ready()` first, so that a slow server slows the caller down. */
  publish(message: string | object, options: BatchEntryOptions = {}): Promise<PublishReceipt> {
    if (this.#isClosed) return Promise.reject(new FantailError('closed', 'the publisher is closed'))
    const { signal, ...members } = options
    if (signal?.aborted) return Promise.reject(abortedBy(signal))
    const given = { message, ...members } as MessageInput
    const { promise, resolve, reject } = Promise.withResolvers<PublishReceipt>()
    const stop = () => this.#drop(entry, signal as AbortSignal)
    const settle: Entry['settle'] = (result) => {
      signal?.removeEventListener('abort', stop)
      this.#unsettled.delete(promise)
      if ('receipt' in result) resolve(result.receipt)
      else reject(result.error)
      this.#releaseReaders()
    }
    const entry = { message: given, bytes: sizeOf(given), arrivedAt: performance.now(), settle }
    signal?.addEventListener('abort', stop, { once: true })
    this.#unsettled.add(promise)
    this.#waiting.push(entry)
    this.#sendDue()
    return promise
  }

  /** Resolves when fewer than `maxPending` messages are without a receipt. */
  async ready(signal?: AbortSignal): Promise<void> {
    while (this.pending >= this.#maxPending) {
      if (signal?.aborted) throw abortedBy(signal)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#readers.add(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
      await promise
      this.#readers.delete(resolve)
    }
  }

  /** Sends all waiting messages at once. Rejects with the first failure among them. */
  async flush(): Promise<void> {
    this.#flushes += 1
    this.#sendDue()
    const results = await Promise.allSettled([...this.#unsettled])
    this.#flushes -= 1
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** Accepts no further message, and sends all waiting ones. Rejects with the first failure among them. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.flush()
  }

  /** Rejects a message whose signal aborts. If it was already sent, it is stored nevertheless. */
  #drop(entry: Entry, signal: AbortSignal): void {
    this.#waiting = this.#waiting.filter((one) => one !== entry)
    entry.settle({ error: abortedBy(signal) })
  }

  #releaseReaders(): void {
    if (this.pending < this.#maxPending) for (const resolve of this.#readers) resolve()
  }

  #sendDue(): void {
    while (this.#requests < this.#maxRequests && this.#isDue()) void this.#send(this.#takeBatch())
    const [first] = this.#waiting
    if (!first || this.#requests >= this.#maxRequests || this.#timer !== undefined) return
    const waitMs = Math.max(0, first.arrivedAt + this.#lingerMs - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sendDue()
    }, waitMs)
  }

  #isDue(): boolean {
    const [first] = this.#waiting
    if (!first) return false
    const isOld = performance.now() - first.arrivedAt >= this.#lingerMs
    return this.#flushes > 0 || isOld || this.#waiting.length >= this.#maxMessages
  }

  #takeBatch(): Entry[] {
    let bytes = 0
    const end = this.#waiting.findIndex((entry, index) => {
      bytes += entry.bytes
      return index >= this.#maxMessages || (index > 0 && bytes > BATCH_BYTES_MAX)
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end)
  }

  async #send(batch: Entry[]): Promise<void> {
    this.#requests += 1
    try {
      const messages = batch.map(({ message }) => message)
      const receipts = await this.#target.publishAll(messages, this.#call)
      for (const [index, entry] of batch.entries()) entry.settle(resultOf(receipts[index]))
    } catch (error) {
      this.#settleFailed(batch, error)
    } finally {
      this.#requests -= 1
      this.#sendDue()
    }
  }

  #settleFailed(batch: Entry[], error: unknown): void {
    const refused = refusedEntries(error)
    const others = batch.filter((_, index) => refused.size > 0 && !refused.has(index))
    this.#waiting.unshift(...others)
    for (const [index, entry] of batch.entries()) {
      if (!others.includes(entry)) entry.settle({ error: refused.get(index) ?? error })
    }
  }
}

function resultOf(
  receipt: PublishReceipt | undefined,
): { receipt: PublishReceipt } | { error: FantailError } {
  if (receipt) return { receipt }
  return { error: new FantailError('unexpected_answer', 'the answer lacks a receipt') }
}

const encoder = new TextEncoder()

/** With the comma. */
function sizeOf(message: MessageInput): number {
  return encoder.encode(JSON.stringify(message)).length + 1
}

function checked(named: Record<string, number>, min: number, max: number): number {
  const [[name, value] = ['', 0]] = Object.entries(named)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new FantailError('invalid_setting', `${name} must be a whole number from ${min} to ${max}`)
}

const PLACE = /^messages\[(\d+)\]\.?/

/**
 * The messages of a batch that the API refused, each with its own error. The errors by index of the message. Empty if
 * the error names no message.
 */
function refusedEntries(error: unknown): Map<number, FantailError> {
  if (!(error instanceof FantailError) || error.status === undefined || error.status >= 500) return new Map()
  const problems = (error.details ?? []).map((problem) => ({ problem, at: PLACE.exec(problem.path) }))
  if (problems.some(({ at }) => at === null)) return new Map()
  const byIndex = Map.groupBy(problems, ({ at }) => Number(at?.[1]))
  return new Map(
    [...byIndex].map(([index, found]) => [
      index,
      errorOf(
        error,
        found.map(({ problem }) => problem),
      ),
    ]),
  )
}

function errorOf({ code, status, requestId, attempts }: FantailError, problems: Problem[]): FantailError {
  const details = problems.map(({ path, message }) => ({ path: path.replace(PLACE, ''), message }))
  const message = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  const error = new FantailError(code, message, { status, requestId, details })
  error.attempts = attempts
  return error
}
