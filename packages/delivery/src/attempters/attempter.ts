/** One attempt at an endpoint of any kind. Deliveries and tests of a subscription use the same code. */
import type { AttemptResult } from '@fantail/contracts'
import type { Envelope } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import type { ExchangeTrace } from '../http/exchange-trace.ts'
import type { FurtherCause, FurtherRequest, SendMoment } from '../http/http-request.ts'
import type { KeepAnswer } from '../http/kept-answer.ts'
import type { CopyMark } from '../queues/queue-appends.ts'

/** One message for the endpoint. Its signature has been prepared (`EnvelopeSigning`). */
export interface Outgoing {
  envelope: Envelope
  /** The id of the delivery. An endpoint may use it to recognize a repeated delivery. Undefined in a test. */
  delivery: Buffer | undefined
}

export interface Attempt extends Outgoing {
  target: EndpointTarget
  /**
   * Further messages of the same FIFO group, in order. The attempt may send them together with the first. Only
   * protocols with the trait `fifo.sendsFollowers` get any.
   */
  followers?: Iterable<Outgoing> | undefined
  /** Trace context of the attempt's span. */
  traceparent?: string | undefined
  /** If it is set, the result has the beginning of the answer as text, up to this many bytes. */
  textBytesMax?: number | undefined
  /** If it is set, the result has the beginning of the answer, if this kind of endpoint has one. */
  keepAnswer?: KeepAnswer | undefined
  /** Follows the attempt's HTTP requests to the endpoint, if this kind of endpoint has such requests. */
  trace?: ExchangeTrace | undefined
  /** The earlier requests of this attempt, if there were any. */
  earlier?: FurtherRequest | undefined
  /** Called when a request is written, with the reason for it. Undefined: it is the attempt's first request. */
  onRequest?: ((cause: FurtherCause | undefined) => void) | undefined
  /**
   * When the request may be written. If the time has passed before the request is written, `missed` is called instead
   * of `done`.
   */
  moment?: SendMoment | undefined
}

/**
 * `followersSent`: how many of the followers were delivered with the first. `copy`: set if the endpoint is a queue of
 * this Redis.
 */
export type AttemptDone = (result: AttemptResult, followersSent?: number, copy?: CopyMark) => void

/** The limits of one request: the number of records, the bytes, and how long the first record waits for others. */
export interface BatchLimits {
  records: number
  bytes: number
  lingerMs: number
}

interface BatchRecord {
  /** The record, as `render` has made it. */
  bytes: Buffer
  /** The id of the delivery. An endpoint may use it to recognize a repeated record. */
  delivery: Buffer
}

interface BatchAttempt {
  target: EndpointTarget
  /** At least one record, roughly in the order of publishing. A record that exceeds the bounds is sent alone. */
  records: readonly BatchRecord[]
  /** Trace context of the attempt's span. */
  traceparent?: string | undefined
  /** If it is set, results have the beginning of the answer as text, up to this many bytes. */
  textBytesMax?: number | undefined
}

/** For kinds that send several deliveries to an endpoint in one request. Envelopes are not signed. */
export interface Batching {
  limitsOf(target: EndpointTarget): BatchLimits
  /** The record of one delivery. Its length counts against the limits. It never throws. */
  render(sent: Outgoing, target: EndpointTarget): Buffer
  /** Calls `done` once, with a result for each record in order. The other rules of `Attempter.attempt` apply. */
  attempt(batch: BatchAttempt, done: (results: readonly AttemptResult[]) => void): void
}

/**
 * Data that every attempt of a kind needs was damaged. The attempts are `misconfigured`, because only an operator can
 * repair the data.
 */
export class DamagedDataError extends Error {}

export interface Attempter {
  /**
   * If set, deliveries wait in their lanes and are sent in batches, and `attempt` is used only by the `/test` route.
   */
  readonly batching?: Batching
  /**
   * The setting without which this process makes no attempts. While it is missing, nobody can subscribe such an
   * endpoint. Undefined: no setting is missing.
   */
  readonly lacks?: string
  /**
   * The reason why this process's settings allow no delivery to this endpoint, worded as `must be …`. It is asked when
   * an endpoint is subscribed or moved.
   */
  refusalOf?(endpoint: string): string | undefined
  /**
   * Name of the credential that attempts at this endpoint use, as `misconfigured` results have it. If the credential is
   * broken, other lanes that use it can wait without an attempt of their own. Undefined: attempts need no credential,
   * or its name is not known before.
   */
  credentialOf?(target: EndpointTarget): string | undefined
  /** The text that the endpoint gets. Only for kinds whose requests `trace` does not follow. */
  contentOf?(sent: Outgoing, target: EndpointTarget): string
  /** Called when an attempt follows soon. The attempter may open its connection now. */
  openAhead(target: EndpointTarget): void
  /**
   * Calls `done` or `again` once, never before it has returned. Every failure is a result.
   *
   * An attempt ends within FANTAIL_ATTEMPT_TIMEOUT_MS, because slots and leases rely on that and no caller ends it. If
   * `again` is given, the attempt makes one request and calls `again` when it needs another one. There are no promises,
   * because this runs tens of thousands of times a second.
   *
   * Connections to callers' addresses are opened only by `sender.dial`, which asks the address guard. If the endpoint
   * is a URL, its password is sealed in the target, and `openTarget` opens it first. A result has a `resultClass` if
   * the status of the answer does not decide. If the service's own credential is refused, the result is `misconfigured`
   * and names the credential without secrets.
   *
   * If many subscriptions share a provider, the attempter bounds the requests under way to it (`bounds/under-way.ts`).
   * Otherwise a provider that hangs could take all slots of a worker.
   */
  attempt(attempt: Attempt, done: AttemptDone, again?: (further: FurtherRequest) => void): void
  /**
   * Closes the connections that the attempter opened itself, after its last attempt. Connections that it was given stay
   * open.
   */
  close(): Promise<void>
}
