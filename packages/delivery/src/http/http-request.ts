/** The input of a sender, and the callbacks for its result. */
import type { AttemptResult } from '@fantail/contracts'
import type { NamedOrigin } from '../connections/connection.ts'
import type { Route } from '../outbound/outbound-route.ts'
import type { Challenge } from './challenges.ts'
import type { Credentials } from './credentials.ts'
import type { ExchangeTrace } from './exchange-trace.ts'
import type { KeepAnswer } from './kept-answer.ts'

export interface HttpEndpoint {
  origin: NamedOrigin
  /** Path and query. */
  path: string
  credentials: Credentials | undefined
  /** The subscription's own headers, sent after the others. Names and values alternate. */
  headers: string[] | undefined
}

export interface HttpRequest {
  /** Default: POST. */
  method?: 'POST' | 'PUT' | 'GET' | 'DELETE'
  url: string
  /** Proxy and other outbound settings. Absent if there are none. */
  route?: Route | undefined
  /** Caches what is computed from URL and route. Use one object for both. */
  memo?: { endpoint?: HttpEndpoint | undefined }
  /** A flat list of names and values, or a record. */
  headers: string[] | Record<string, string>
  body: string | Buffer
  /** A deadline that differs from the sender's. */
  timeoutMs?: number
  /** Set: the result has the response's body if it is whole and has at most this many bytes. */
  responseBytesMax?: number
  /**
   * The body decides the result. An answer whose body is not whole has then failed. Otherwise its status is the result.
   */
  needsBody?: boolean
  /** Names in lower case. If set, the result has these headers of the response. */
  responseHeaders?: readonly string[]
  /** Set: the result has the beginning of the body as text. Undefined: the body is dropped. */
  textBytesMax?: number | undefined
  /** Follows the requests of the attempt. */
  trace?: ExchangeTrace | undefined
  /** Set: the result has the beginning of the answer. Undefined: it has none. */
  keepAnswer?: KeepAnswer | undefined
  /** Cuts the attempt short. It then ends as at its deadline. */
  signal?: AbortSignal
  /** The attempt's earlier requests, if the caller makes this one because of `again`. */
  earlier?: FurtherRequest | undefined
  /** Called when a request is written, with the reason for it. Undefined: it is the attempt's first request. */
  onRequest?: ((again: FurtherCause | undefined) => void) | undefined
  /** The request must not be sent twice: it gets a connection of its own, and a reset ends the attempt. */
  isSentOnce?: true
  /** The time at which the request may be written. Undefined: as soon as a connection is open. */
  moment?: SendMoment | undefined
}

/**
 * The time at which a request may be written. It is checked right before the write. Until then, name look-up, dial and
 * handshake take time, and the process may pause.
 */
export interface SendMoment {
  /**
   * Called right before the request is written, when the connection is open. If it returns true, the request is not
   * written and `missed` is called.
   */
  isPast(): boolean
  /**
   * Called instead of `done` if nothing was sent. The connection stays open for the next request. `dialMs`: how long
   * this request waited for its dial, else 0.
   */
  missed(dialMs: number): void
}

/**
 * One of the two is called, once. `done` gets the attempt's result. `again` gets the further request that the attempt
 * needs.
 */
export interface AttemptCallbacks {
  done: (result: AttemptResult) => void
  again?: ((further: FurtherRequest) => void) | undefined
}

/** Why an attempt makes another request. */
export type FurtherCause = 'reset' | 'challenge'

/**
 * Another request of an attempt. The request before it hands this over by `again`, and the caller makes the next one at
 * its own send time, with this object as `earlier`.
 */
export interface FurtherRequest {
  cause: FurtherCause
  /** Duration of the request that needs another one. */
  durationMs: number
  resets: number
  challenges: number
  /** The challenge that the next request answers. */
  challenge: Challenge | undefined
}
