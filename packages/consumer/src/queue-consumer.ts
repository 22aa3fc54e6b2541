/**
 * Polls one queue and hands its messages to a handler.
 *
 * running ─ stop ─▶ stopping: nothing more is received, handlers may end ─ graceMs ─▶ the rest is given back ─▶ stopped
 *
 * One request for messages is under way at a time. It asks for as many messages as may be handled now.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConsumerCounts, ConsumerEvents } from './consumer-events.ts'
import type { Settings } from './consumer-options.ts'
import { HandleRequests } from './handle-requests.ts'
import { Handling, type HandlingOptions, type Run, type Taken } from './handling.ts'
import type { MessageSource } from './sources/messages.ts'

/** A request for messages may take longer than its wait by this time. After that, the connection is closed. */
const RECEIVE_MARGIN_MS = 10_000
/** The longest time that an answer is assumed to travel, if its request has waited for messages. */
const RECEIVE_ANSWER_MS = 1_000
const RECEIVE_PAUSE_MS = 500
/** Pause after receives that failed. Past it: the pause does not grow. */
const RECEIVE_PAUSE_MS_MAX = 30_000
const CONSUMER_GRACE_MS = 20_000

export interface StopOptions {
  /** How long handlers may still run. After that, their messages are given back. Default: 20,000. */
  graceMs?: number
}

interface ConsumerParts {
  source: MessageSource
  settings: Settings
  run: Run
  /** Messages of one call of the handler. */
  batchSize: number
}

export class Consumer extends ConsumerEvents {
  readonly #parts: ConsumerParts
  readonly #handling: Handling
  readonly #groups = new GroupLine()
  readonly #stopping = new AbortController()
  readonly #giveBack = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #polling: Promise<void>
  #inHand = 0
  #freed: (() => void) | undefined
  #failures = 0
  #stopped: Promise<void> | undefined

  /** Starts at once. `consume` and `consumeBatch` call this constructor. */
  constructor(parts: ConsumerParts) {
    super()
    this.#parts = parts
    const { source, settings, run } = parts
    const options: HandlingOptions = {
      source,
      requests: new HandleRequests(source),
      settings,
      events: this,
      run,
      giveBack: this.#giveBack.signal,
    }
    this.#handling = new Handling(options)
    this.#polling = this.#poll()
  }

  /** Counts since the start. `inHand` counts messages that were received and have not ended. */
  stats(): ConsumerCounts & { inHand: number } {
    return { ...this.counts, inHand: this.#inHand }
  }

  /**
   * Receives nothing more, waits for handlers, and gives back the messages of those that do not end in time. Resolves
   * when every message is deleted or given back. A second call returns the promise of the first call.
   */
  stop({ graceMs = CONSUMER_GRACE_MS }: StopOptions = {}): Promise<void> {
    this.#stopped ??= this.#stop(graceMs)
    return this.#stopped
  }

  async #stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#polling
    const timer = setTimeout(() => this.#giveBack.abort(), graceMs)
    while (this.#running.size > 0) await Promise.all(this.#running)
    clearTimeout(timer)
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const free = this.#free
      if (free === 0) {
        await this.#untilFreed()
        continue
      }
      try {
        this.#accept(await this.#receive(free))
        this.#failures = 0
      } catch (error) {
        if (signal.aborted) return
        this.problem(error, 'receive')
        await this.#pause()
      }
    }
  }

  async #receive(free: number): Promise<Taken[]> {
    const { source, settings } = this.#parts
    const { waitSeconds, visibilitySeconds } = settings
    const deadline = AbortSignal.timeout(waitSeconds * 1_000 + RECEIVE_MARGIN_MS)
    const signal = AbortSignal.any([this.#stopping.signal, deadline])
    const askedAt = performance.now()
    const maxMessages = Math.min(free, source.receiveMax)
    const messages = await source.receive({ maxMessages, waitSeconds, visibilitySeconds }, signal)
    // The messages were hidden at some moment of the request. If the request waited, that moment was near its end.
    const answerMs = Math.min(RECEIVE_ANSWER_MS, visibilitySeconds * 250)
    const receivedAt = Math.max(askedAt, performance.now() - answerMs)
    return messages.map((message) => ({ message, receivedAt }))
  }

  #accept(taken: Taken[]): void {
    if (this.#parts.source.isFifo) {
      const groups = Map.groupBy(taken, ({ message }) => message.groupId ?? '')
      for (const [group, messages] of groups)
        this.#start(messages.length, () => this.#groups.run(group, () => this.#handleGroup(messages)))
    } else {
      for (const batch of this.#batches(taken))
        this.#start(batch.length, async () => void (await this.#handling.handle(batch)))
    }
  }

  #batches(taken: Taken[]): Taken[][] {
    const { batchSize } = this.#parts
    const batches: Taken[][] = []
    for (let from = 0; from < taken.length; from += batchSize)
      batches.push(taken.slice(from, from + batchSize))
    return batches
  }

  /**
   * Handles the messages in order. After a failure it gives back the later messages of the group, so none overtakes the
   * failed one.
   */
  async #handleGroup(taken: Taken[]): Promise<void> {
    const batches = this.#batches(taken)
    for (const [index, batch] of batches.entries()) {
      if (await this.#handling.handle(batch)) continue
      await this.#handling.release(batches.slice(index + 1).flat())
      return
    }
  }

  #start(messages: number, work: () => Promise<void>): void {
    this.#inHand += messages
    const running = work().finally(() => {
      this.#running.delete(running)
      this.#inHand -= messages
      this.#freed?.()
    })
    this.#running.add(running)
  }

  /** Messages that may be received now. */
  get #free(): number {
    const { settings, batchSize } = this.#parts
    return Math.max(0, settings.concurrency * batchSize - this.#inHand)
  }

  async #untilFreed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#freed = resolve
    const { signal } = this.#stopping
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    this.#freed = undefined
  }

  async #pause(): Promise<void> {
    const most = Math.min(RECEIVE_PAUSE_MS * 2 ** this.#failures, RECEIVE_PAUSE_MS_MAX)
    this.#failures++
    const { signal } = this.#stopping
    await sleep(most / 2 + (Math.random() * most) / 2, undefined, { signal }).catch(() => undefined)
  }
}

/** Runs the tasks of one FIFO group one after the other. Tasks of different groups do not wait for each other. */
class GroupLine {
  readonly #last = new Map<string, Promise<void>>()

  /** `work` must not reject. */
  run(group: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(group) ?? Promise.resolve()
    const mine = before.then(work).finally(() => {
      if (this.#last.get(group) === mine) this.#last.delete(group)
    })
    this.#last.set(group, mine)
    return mine
  }
}
