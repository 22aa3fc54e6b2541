/** A sender's input, and how it answers. */
import type { AttemptResult } from '@fantail/contracts'
import type { NamedOrigin } from '../connections/connection.ts'
import type { Route } from '../outbound/outbound-route.ts'
import type { Challenge } from './challenges.ts'
import type { Credentials } from './credentials.ts'

export interface HttpEndpoint {
  origin: NamedOrigin
  /** Path and query. */
  path: string
  credentials: Credentials | undefined
  /** The subscription's own headers, sent after the others: names and values in turn. */
  headers: string[] | undefined
}

export interface HttpRequest {
  url: string
  /** How it is reached, where that is not the plain way. */
  route?: Route | undefined
  /** Remembers between requests what URL and route say; one object for both. */
  memo?: { endpoint?: HttpEndpoint | undefined }
  /** Names and values in turn, or a record. */
  headers: string[] | Record<string, string>
  body: string | Buffer
  /** Where the deadline is another than the sender's. */
  timeoutMs?: number
  /** Return the response's body if it has at most this many bytes. */
  responseBytesMax?: number
  /** Return the beginning of the response's body as text. Undefined: the body is dropped. */
  textBytesMax?: number | undefined
  /** Cuts the attempt short; it ends as at its deadline. */
  signal?: AbortSignal
  /** The attempt's earlier requests, where the caller was asked for this one. */
  after?: Again | undefined
  /** Called as each request is written; undefined: it is the attempt's first. */
  onRequest?: ((again: AgainCause | undefined) => void) | undefined
  /** When the request may be written. Undefined: as soon as it has a connection. */
  moment?: SendMoment | undefined
}

/**
 * When a request may be written. The way there takes time: a name, a dial, a handshake, a process that stands still.
 */
export interface SendMoment {
  /** Asked right before the request is written, once it has a connection. True: it is not written, `missed` follows. */
  isPast(): boolean
  /**
   * Called instead of `done`: nothing was sent, and the connection stays for the next request. `dialMs`: how long the
   * dial took that this request had to wait for, else 0.
   */
  missed(dialMs: number): void
}

/** Called once, with the end of the attempt or, where `again` is given, with the request that it needs. */
export interface AttemptCallbacks {
  done: (result: AttemptResult) => void
  again?: ((again: Again) => void) | undefined
}

/** Why an attempt makes another request. */
export type AgainCause = 'reset' | 'challenge'

/** Another request of an attempt, which the caller makes at its own send time: `HttpRequest.after`. */
export interface Again {
  cause: AgainCause
  /** Duration of the request that needs another one. */
  durationMs: number
  resets: number
  challenges: number
  /** The challenge that the next request answers. */
  challenge: Challenge | undefined
}
