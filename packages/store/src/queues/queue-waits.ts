/**
 * Long polls. All waiting receives for one queue in this process form one line, and only its head asks Redis. The head
 * asks when it joins, when a wake names the queue, when the next message becomes visible by time, and every 2 s in case
 * a wake was lost. A receive that gets messages leaves, and the next one asks. An empty answer ends the round. A
 * message therefore costs one receive, however many receives wait, and waiting costs almost nothing.
 */
import type { QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { WAKE_QUEUES } from '../keys/keys.ts'
import { SealKeyError } from '../records/sealed-messages.ts'
import { type PassingTimer, passingTime } from '../travel/passing-clock.ts'
import { AttemptChangedError } from './items/queue-errors.ts'
import type { QueueUse, Received, ReceiveRequest } from './items/queue-records.ts'
import { kindOf } from './kinds/queue-kind.ts'
import type { Queues } from './queues.ts'

const RECHECK_MS = 2_000
/** Shortest pause between two looks of a long poll while it waits for a message to become visible. */
const RECEIVE_PAUSE_MS_MIN = 10

interface QueueWaitsOptions {
  queues: Queues
  /** A connection for subscriptions. It may be shared with other subscribers, and is not closed here. */
  subscriber: Redis
  /** Called if messages for an aborted wait could not be given back. They become visible again by time. */
  onProblem?: (error: Error) => void
  /** Counts long polls without a message. Each counts as one receive, however often it has asked. */
  use?: Pick<QueueUse, 'emptyReceive'>
}

export interface WaitingReceive extends ReceiveRequest {
  waitSeconds: number
  signal?: AbortSignal
}

interface Waiter {
  request: WaitingReceive
  /** The time of the wait is up. A receive for it is under way and still counts. */
  late: boolean
  settle: (messages: QueueMessage[]) => void
  fail: (error: unknown) => void
}

interface Line {
  arn: string
  waiters: Waiter[]
  serving: boolean
  /** An event came while it was being served, so the head asks again. */
  again: boolean
  nextInMs: number | null
  timer: NodeJS.Timeout | undefined
  /** Set while the time of the next visible message is known. */
  visible: PassingTimer | undefined
}

export class QueueWaits {
  readonly #queues: Queues
  readonly #subscriber: Redis
  readonly #onProblem: (error: Error) => void
  readonly #use: QueueWaitsOptions['use']
  readonly #lines = new Map<string, Line>()
  #closed = false

  constructor({ queues, subscriber, onProblem, use }: QueueWaitsOptions) {
    this.#queues = queues
    this.#subscriber = subscriber
    this.#onProblem = onProblem ?? (() => undefined)
    this.#use = use
    subscriber.on('ready', this.#subscribe)
    subscriber.on('message', this.#wake)
    if (subscriber.status === 'ready') this.#subscribe()
  }

  /** Resolves when there is a message. Resolves with [] when the time is up, the signal aborts or `close` is called. */
  async receiveWaiting(arn: string, request: WaitingReceive): Promise<QueueMessage[]> {
    const isOver = request.signal?.aborted || this.#closed
    // Without waiting this is a plain receive, which is counted elsewhere.
    if (request.waitSeconds <= 0) return isOver ? [] : this.#queues.receive(arn, request)
    const messages = isOver ? [] : await this.#wait(arn, request)
    if (messages.length === 0) this.#use?.emptyReceive(arn)
    return messages
  }

  /** Whether a wait is being served. */
  get isServing(): boolean {
    return [...this.#lines.values()].some(({ serving }) => serving)
  }

  /** Whether a receive waits at this queue. */
  isWaiting(arn: string): boolean {
    return (this.#lines.get(arn)?.waiters.length ?? 0) > 0
  }

  /** Looks for messages in every line that waits. */
  async checkAgain(): Promise<void> {
    await Promise.all([...this.#lines.values()].map((line) => this.#serve(line)))
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true
    this.#subscriber.off('ready', this.#subscribe)
    this.#subscriber.off('message', this.#wake)
    for (const line of this.#lines.values()) {
      stopTimers(line)
      for (const waiter of [...line.waiters]) waiter.settle([])
    }
    this.#lines.clear()
  }

  #wait(arn: string, request: WaitingReceive): Promise<QueueMessage[]> {
    return new Promise((resolve, reject) => {
      const line = this.#line(arn)
      const waiter: Waiter = { request, late: false, settle: leave(resolve), fail: leave(reject) }
      const timer = setTimeout(() => this.#timeUp(line, waiter), request.waitSeconds * 1_000)
      const abort = () => waiter.settle([])
      request.signal?.addEventListener('abort', abort)
      line.waiters.push(waiter)
      void this.#serve(line)

      function leave<T>(answer: (value: T) => void): (value: T) => void {
        return (value) => {
          clearTimeout(timer)
          request.signal?.removeEventListener('abort', abort)
          const at = line.waiters.indexOf(waiter)
          if (at >= 0) line.waiters.splice(at, 1)
          answer(value)
        }
      }
    })
  }

  #line(arn: string): Line {
    let line = this.#lines.get(arn)
    if (line === undefined) {
      line = {
        arn,
        waiters: [],
        serving: false,
        again: false,
        nextInMs: null,
        timer: undefined,
        visible: undefined,
      }
      this.#lines.set(arn, line)
    }
    return line
  }

  #subscribe = (): void => {
    this.#subscriber.subscribe(WAKE_QUEUES).then(
      () => {
        for (const line of this.#lines.values()) void this.#serve(line)
      },
      // The connection broke again. `ready` will come again, and until then the looks every 2 s find messages.
      (error: Error) => this.#onProblem(error),
    )
  }

  #wake = (channel: string, arn: string): void => {
    const line = channel === WAKE_QUEUES ? this.#lines.get(arn) : undefined
    if (line) void this.#serve(line)
  }

  #timeUp(line: Line, waiter: Waiter): void {
    if (line.serving && line.waiters[0] === waiter) waiter.late = true
    else waiter.settle([])
  }

  async #serve(line: Line): Promise<void> {
    line.again = true
    if (line.serving) return
    line.serving = true
    stopTimers(line)
    try {
      while (line.again && line.waiters.length > 0) {
        line.again = false
        await this.#serveWaiters(line)
      }
    } catch (error) {
      for (const waiter of [...line.waiters]) waiter.fail(error)
    }
    line.serving = false
    if (line.waiters.length === 0 || this.#closed) this.#dismiss(line)
    else this.#setTimers(line)
  }

  #setTimers(line: Line): void {
    const serve = () => void this.#serve(line)
    line.timer = setTimeout(serve, RECHECK_MS)
    const { nextInMs } = line
    if (nextInMs !== null) line.visible = passingTime.after(Math.max(nextInMs, RECEIVE_PAUSE_MS_MIN), serve)
  }

  #dismiss(line: Line): void {
    if (this.#lines.get(line.arn) === line) this.#lines.delete(line.arn)
  }

  async #serveWaiters(line: Line): Promise<void> {
    for (let waiter = line.waiters[0]; waiter; waiter = line.waiters[0]) {
      const received = await this.#receiveFor(line, waiter)
      if (!received) continue
      const { messages, nextVisibleInMs } = received
      line.nextInMs = nextVisibleInMs
      if (messages.length > 0 && !line.waiters.includes(waiter)) await this.#giveBack(line, waiter, messages)
      else if (messages.length > 0 || waiter.late) waiter.settle(messages)
      else return
    }
  }

  /**
   * undefined: the waiter's own attempt cannot be repeated, or all messages were locked. The waiters behind it are not
   * affected.
   */
  async #receiveFor({ arn }: Line, waiter: Waiter): Promise<Received | undefined> {
    try {
      return await this.#queues.receiveOnce(arn, waiter.request)
    } catch (error) {
      if (!(error instanceof AttemptChangedError || error instanceof SealKeyError)) throw error
      waiter.fail(error)
      return undefined
    }
  }

  /** Messages of an attempt stay hidden, because the caller may repeat it and must get the same messages. */
  async #giveBack({ arn }: Line, { request }: Waiter, messages: QueueMessage[]): Promise<void> {
    if (request.attemptId !== undefined && kindOf(arn).repeatsReceives) return
    try {
      const shown = messages.map(({ receiptHandle = '' }) => ({ handle: receiptHandle, seconds: 0 }))
      await this.#queues.changeVisibility(arn, shown, { newestOnly: true })
    } catch (error) {
      this.#onProblem(error as Error)
    }
  }
}

function stopTimers({ timer, visible }: Line): void {
  clearTimeout(timer)
  visible?.cancel()
}
