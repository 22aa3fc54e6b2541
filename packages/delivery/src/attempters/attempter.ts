/** One attempt at an endpoint of any kind. Deliveries and tests of a subscription use the same code. */
import type { AttemptResult } from '@fantail/contracts'
import type { Envelope } from '../envelope/envelope.ts'
import type { Target } from '../envelope/target.ts'
import type { Again, AgainCause, SendMoment } from '../http/http-request.ts'

/** One message for the endpoint. Its signature has been prepared (`EnvelopeSigning`). */
export interface Sent {
  envelope: Envelope
  /** The delivery's bytes, by which the endpoint may recognize a repetition. Undefined in a test. */
  delivery: Buffer | undefined
}

export interface Attempt extends Sent {
  target: Target
  /** Messages of the same group that may go along, in order. The traits of the kind allow it (`fifo.sendsRuns`). */
  run?: Iterable<Sent> | undefined
  /** Trace context of the attempt's span. */
  traceparent?: string | undefined
  /** Returns the beginning of the answer as text. */
  textBytesMax?: number | undefined
  /** The earlier requests of this attempt. */
  after?: Again | undefined
  /** Called as each request is written. Undefined cause: the first one. */
  onRequest?: ((cause: AgainCause | undefined) => void) | undefined
  /** When a request may be written. If that is past, `missed` is called instead of `done`. */
  moment?: SendMoment | undefined
}

/** Marks a copy that was written to this Redis: whether it is still there when its source is deleted. */
export interface CopyMark {
  readonly key: string
  readonly at: number
  holds(): boolean
}

/**
 * `along`: how many messages of the run were delivered with the first. `copy`: where the endpoint is a queue of this
 * Redis.
 */
export type AttemptDone = (result: AttemptResult, along?: number, copy?: CopyMark) => void

export interface Attempter {
  /** The setting that this process lacks to make attempts: nothing is subscribed then. Undefined: it makes them. */
  readonly lacks?: string
  /**
   * Why nothing can be delivered to this endpoint with the settings of this process, as in `must be …`. Subscribe and
   * moves ask it.
   */
  refusalOf?(endpoint: string): string | undefined
  /** An attempt follows soon: start what takes long on the way to the endpoint. */
  openAhead(target: Target): void
  /**
   * Calls `done` or `again` once, never before it has returned. Every failure is a result. It ends within
   * FANTAIL_ATTEMPT_TIMEOUT_MS: slots and leases rely on that, and no caller ends an attempt. With `again` the attempt
   * makes one request, and asks for the next. There are no promises, because this runs tens of thousands of times a
   * second.
   */
  attempt(attempt: Attempt, done: AttemptDone, again?: (again: Again) => void): void
  /** Closes connections that the attempter opened itself, after its last attempt. What it was given stays open. */
  close(): Promise<void>
}
