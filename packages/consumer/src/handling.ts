/**
 * Handles received messages: one call of the handler for one message, or for a batch.
 *
 * received ─▶ claimed (idempotency) ─▶ handler ─▶ done, and deleted
 *                 │                      ├─▶ failed: visible again after the backoff
 *                 │                      └─▶ given back at once, because the consumer stops
 *                 └─▶ done before: deleted; busy elsewhere: visible again when that claim ends
 *
 * A message's heartbeat ends, and is awaited, before the message is deleted or given back.
 */
import type { ConsumerEvents, ProblemAction } from './consumer-events.ts'
import type { Settings } from './consumer-options.ts'
import type { HandleRequests } from './handle-requests.ts'
import { Lease } from './lease.ts'
import { type Claim, newToken } from './message-claims.ts'
import { HIDDEN_SECONDS_MAX, type MessageSource, type QueueMessage } from './sources/messages.ts'

export interface HandlerContext {
  /**
   * Aborts when the handler's time is over, when all its messages are lost, and when the consumer stops. The consumer
   * then no longer waits for the handler, unless its messages were lost.
   */
  signal: AbortSignal
  /** Hides the messages for this number of seconds from now. The heartbeat then renews for this time. */
  extend(seconds: number): Promise<void>
  /**
   * How often a handler has begun the message, by `attempts` if set, otherwise by the queue's count. The highest number
   * of a batch.
   */
  attempt: number
}

/** Returns the ids of messages that failed. The others are done. */
export type Run = (messages: QueueMessage[], context: HandlerContext) => Promise<readonly string[]>

export interface Taken {
  message: QueueMessage
  /** By performance.now(). The message was received before this moment. */
  receivedAt: number
}

export interface HandlingOptions {
  source: MessageSource
  requests: HandleRequests
  settings: Settings
  events: ConsumerEvents
  run: Run
  /** Aborts when messages must be given back at once. */
  giveBack: AbortSignal
}

/** A message whose handler may begin. */
interface Ready {
  message: QueueMessage
  lease: Lease
  key: string
  token: string
  attempt: number
}

/** The reason of an aborted signal. */
export class HandlerAborted extends Error {
  override readonly name = 'HandlerAborted'
  readonly because: 'timeout' | 'lost' | 'stopped'

  constructor(because: HandlerAborted['because'], text: string) {
    super(text)
    this.because = because
  }
}

export class Handling {
  readonly #options: HandlingOptions

  constructor(options: HandlingOptions) {
    this.#options = options
  }

  /** Resolves when every message is deleted, given back or lost. The result is true if all are done. Never rejects. */
  async handle(taken: Taken[]): Promise<boolean> {
    const prepared = await Promise.all(taken.map((one) => this.#prepare(one)))
    const ready = prepared.filter((one): one is Ready => typeof one === 'object')
    if (ready.length === 0) return !prepared.includes('failed')
    const done = await this.#run(ready)
    return done && !prepared.includes('failed')
  }

  /** Gives back messages that no handler has begun. */
  async release(taken: Taken[]): Promise<void> {
    await Promise.all(taken.map(({ message }) => this.#hide(message, 0)))
  }

  async #prepare({ message, receivedAt }: Taken): Promise<Ready | 'done' | 'failed'> {
    const { requests, settings, events } = this.#options
    const key = settings.keyOf(message)
    const token = newToken()
    const lease = new Lease(message, {
      requests,
      visibilitySeconds: settings.visibilitySeconds,
      heartbeat: settings.heartbeat,
      receivedAt,
      events: {
        extended: (seconds) => {
          events.extended(message, seconds)
          void this.#report('idempotency', () => settings.idempotency?.claim(key, token, seconds))
        },
        lost: (reason) => events.lost(message, reason),
        failed: (error) => events.problem(error, 'heartbeat'),
      },
    })
    const early = await this.#endEarly(message, key, token)
    if (early === undefined) {
      const attempt = await this.#countAttempt(message, key)
      events.received(message)
      return { message, lease, key, token, attempt }
    }
    await lease.end()
    return early
  }

  /** Ends a message without calling the handler, if the message is poisonous, done or busy. */
  async #endEarly(message: QueueMessage, key: string, token: string): Promise<'done' | 'failed' | undefined> {
    const { settings, events } = this.#options
    const { poison, idempotency } = settings
    if (poison && message.receiveCount > poison.after) return this.#poison(message, poison.to)
    if (!idempotency) return undefined
    let claim: Claim
    try {
      claim = await idempotency.claim(key, token, settings.visibilitySeconds)
    } catch (error) {
      events.problem(error, 'idempotency')
      return this.#backOff(message, message.receiveCount, error)
    }
    if (claim === 'claimed') return undefined
    if (claim === 'done') {
      events.repeated(message)
      await this.#delete(message)
      return 'done'
    }
    await this.#hide(message, claim.busySeconds)
    return 'failed'
  }

  async #poison(message: QueueMessage, queue: string): Promise<'done' | 'failed'> {
    const { source, events } = this.#options
    try {
      await source.copyTo?.(queue, message)
    } catch (error) {
      events.problem(error, 'poison')
      return this.#backOff(message, message.receiveCount, error)
    }
    events.poisoned(message)
    await this.#delete(message)
    return 'done'
  }

  async #countAttempt(message: QueueMessage, key: string): Promise<number> {
    const { settings, events } = this.#options
    if (!settings.attempts) return message.receiveCount
    try {
      return await settings.attempts.begin(key)
    } catch (error) {
      events.problem(error, 'attempts')
      return message.receiveCount
    }
  }

  async #run(ready: Ready[]): Promise<boolean> {
    const { settings, run, giveBack } = this.#options
    const abort = new AbortController()
    const since = performance.now()
    const messages = ready.map(({ message }) => message)
    const watch = watchFor(ready, settings.handlerTimeoutMs, giveBack, abort)
    const context: HandlerContext = {
      signal: abort.signal,
      extend: async (seconds) => {
        if (!(seconds >= 0 && seconds <= HIDDEN_SECONDS_MAX))
          throw new TypeError(
            `a message can be hidden for 0 to ${HIDDEN_SECONDS_MAX} seconds, not ${seconds}`,
          )
        await Promise.all(ready.map(({ lease }) => lease.extend(Math.ceil(seconds))))
      },
      attempt: Math.max(...ready.map(({ attempt }) => attempt)),
    }
    let failed: ReadonlySet<string> = new Set(messages.map(({ id }) => id))
    let error: unknown
    try {
      failed = new Set(
        await Promise.race([Promise.resolve().then(() => run(messages, context)), watch.ended]),
      )
      error = new Error('the handler named this message as failed')
    } catch (thrown) {
      error = thrown
    } finally {
      watch.stop()
    }
    const durationMs = performance.now() - since
    const ends = ready.map((one) =>
      failed.has(one.message.id) ? this.#fail(one, error) : this.#succeed(one, durationMs),
    )
    await Promise.all(ends)
    return failed.size === 0
  }

  async #succeed({ message, lease, key, token }: Ready, durationMs: number): Promise<void> {
    const { settings, events } = this.#options
    await lease.end()
    await this.#report('idempotency', () => settings.idempotency?.finish(key, token))
    await this.#report('attempts', () => settings.attempts?.forget(key))
    // Deletes the message even if the receive is over. The work is done, and an old handle may still delete the
    // message.
    if (await this.#delete(message)) events.succeeded(message, durationMs)
  }

  async #fail({ message, lease, key, token, attempt }: Ready, error: unknown): Promise<void> {
    const { settings, events } = this.#options
    await lease.end()
    await this.#report('idempotency', () => settings.idempotency?.release(key, token))
    if (error instanceof HandlerAborted && error.because === 'stopped') {
      if (!lease.lost) await this.#hide(message, 0)
      return
    }
    events.failed(message, error)
    if (!lease.lost) await this.#backOff(message, attempt, error)
  }

  async #backOff(message: QueueMessage, attempt: number, error: unknown): Promise<'failed'> {
    const { settings, events } = this.#options
    const { receiveCount } = message
    try {
      const seconds = settings.backoff({ message, receiveCount, attempt, error })
      if (seconds !== undefined)
        await this.#hide(message, Math.min(Math.max(0, Math.ceil(seconds)), HIDDEN_SECONDS_MAX))
    } catch (thrown) {
      // The caller's own backoff threw. The message comes again when its visibility time ends.
      events.problem(thrown, 'hide')
    }
    return 'failed'
  }

  #hide({ receiptHandle }: QueueMessage, seconds: number): Promise<boolean> {
    return this.#report('hide', () => this.#options.requests.hide(receiptHandle, seconds))
  }

  #delete({ receiptHandle }: QueueMessage): Promise<boolean> {
    return this.#report('delete', () => this.#options.requests.delete(receiptHandle))
  }

  /** Runs the request, and reports a failure. Returns false if the request failed. */
  async #report(action: ProblemAction, request: () => Promise<unknown> | undefined): Promise<boolean> {
    try {
      await request()
      return true
    } catch (error) {
      this.#options.events.problem(error, action)
      return false
    }
  }
}

/** Aborts the handler's signal for each reason. `ended` rejects if the handler is no longer waited for. */
function watchFor(
  ready: Ready[],
  timeoutMs: number | undefined,
  giveBack: AbortSignal,
  abort: AbortController,
): { ended: Promise<never>; stop(): void } {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  ended.catch(() => undefined)
  const end = (reason: HandlerAborted) => {
    abort.abort(reason)
    reject(reason)
  }
  const onGiveBack = () => end(new HandlerAborted('stopped', 'the consumer stops'))
  if (giveBack.aborted) onGiveBack()
  else giveBack.addEventListener('abort', onGiveBack)
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => end(new HandlerAborted('timeout', `the handler took longer than ${timeoutMs} ms`)),
          timeoutMs,
        )
  const lost = new HandlerAborted('lost', 'other consumers may have the messages')
  const checks = ready.map(({ lease }) => lease.whenLost)
  void Promise.all(checks).then(() => abort.abort(lost))
  return {
    ended,
    stop: () => {
      clearTimeout(timer)
      giveBack.removeEventListener('abort', onGiveBack)
    },
  }
}
