/**
 * Makes HTTP attempts: POST, no redirects, one deadline for name look-up, connect, TLS, headers and body. Every outcome
 * is an `AttemptResult`, so it never throws. The caller bounds how many attempts are in flight.
 */
import type { AttemptResult } from '@fantail/contracts'
import { ATTEMPT_DEADLINE_MS } from '@fantail/contracts'
import { LRUCache } from 'lru-cache'
import { Connections } from '../connections/connections.ts'
import { type Connector, createConnector } from '../connections/connector.ts'
import { createAddressGuard } from '../outbound/address-guard.ts'
import { decodeUserinfo, hostOf, type Route } from '../outbound/outbound-route.ts'
import { createResolver, type Resolver } from '../outbound/resolver.ts'
import { failure } from './attempt-failure.ts'
import { Credentials } from './credentials.ts'
import { Deadlines } from './deadlines.ts'
import { type AttemptContext, HttpAttempt } from './http-attempt.ts'
import type { FurtherRequest, HttpEndpoint, HttpRequest } from './http-request.ts'
import { ResultQueue } from './result-queue.ts'

export interface HttpSenderOptions {
  /** Deadline of the whole attempt. */
  timeoutMs?: number
  /** Bytes of a response that are read and dropped. Past them the connection is closed, and the status still counts. */
  responseBytesMax?: number
  /** Bytes of the status line and the headers of a response. */
  responseHeaderBytesMax?: number
  allowPrivate: boolean
  /** Exceptions from the refusal of private addresses (see AddressGuardOptions). */
  allow?: string[]
  deny?: string[]
  resolver?: Resolver
  /** Connections kept per origin. Past it, a connection is closed after its request. */
  connectionsMax?: number
  /** Idle connections kept to all origins together. */
  idleConnectionsMax?: number
  /** How long a connection may be idle if the server names no time. */
  idleMs?: number
  /** Time since a connection's address was confirmed, after which it takes no more requests. */
  connectionAgeMsMax?: number
  /** PEM certificates trusted instead of the system's. */
  ca?: string | string[]
}

type EndpointOf = Pick<HttpRequest, 'url' | 'route' | 'memo'>

interface SenderStats {
  inFlight: number
  connections: number
  idle: number
  origins: number
}

export interface HttpSender {
  /**
   * Makes one attempt. It calls `done` or `again` once, never before it has returned. With `again`, each call makes one
   * request. If the attempt needs another request, the caller makes it with `request.earlier`.
   */
  send(
    request: HttpRequest,
    done: (result: AttemptResult) => void,
    again?: (further: FurtherRequest) => void,
  ): void
  /** Called when a request to this URL follows soon. If connections to this origin open slowly, one is opened now. */
  openAhead(request: EndpointOf): void
  /** Deadline of an attempt. */
  readonly timeoutMs: number
  /** Opens a connection for another protocol. The guard checks it like all others. */
  dial: Connector
  stats(): SenderStats
  /**
   * Accepts no more attempts. Running attempts have `graceMs` to end (default: until their deadline). Then they end as
   * timeouts, and every connection is closed.
   */
  close(graceMs?: number): Promise<void>
}

const DEFAULTS = {
  timeoutMs: ATTEMPT_DEADLINE_MS,
  /**
   * @limit Body of an answer that is read, so that the connection can be reused. Past it: the connection is closed, and
   * the status still counts.
   */
  responseBytesMax: 65_536,
  /**
   * Chunk sizes and extensions together may take as many bytes again, and one more for each byte of the body.
   * @limit An answer up to the end of its head, with interim answers and empty lines. Past it: the connection is
   * closed. The status still counts if it was read and the body does not decide, else the attempt has failed.
   */
  responseHeaderBytesMax: 16_384,
  /** @limit Connections kept per origin. Past it: a request gets a connection that is closed after it. */
  connectionsMax: 256,
  /** @limit Idle connections of a process. Past it: the one that is idle for longest is closed. */
  idleConnectionsMax: 8_192,
  /**
   * Shorter than the 60 s for which load balancers keep idle connections, because a TLS handshake costs as much as
   * several requests.
   * @limit How long an idle connection is kept if the server sends no `Keep-Alive: timeout`. After it: the connection
   * is closed.
   */
  idleMs: 50_000,
  /**
   * A busy endpoint moves with its name, which is resolved again before this time is over.
   * @limit Time since an endpoint's name led to a connection's address. Past it: the connection takes no more requests,
   * and the next request opens another one.
   */
  connectionAgeMsMax: 60_000,
}
/** Parsed endpoint URLs that a process remembers. Past it: the least recently used one is parsed again. */
const ENDPOINTS_MAX = 20_000

export function createHttpSender(options: HttpSenderOptions): HttpSender {
  const settings = { ...DEFAULTS, ...options }
  const guard = createAddressGuard(settings)
  const connector = createConnector({
    guard,
    resolver: settings.resolver ?? createResolver(),
    ca: settings.ca,
  })
  const connections = new Connections({
    connector,
    perOriginMax: settings.connectionsMax,
    idleMax: settings.idleConnectionsMax,
    idleMs: settings.idleMs,
    ageMsMax: settings.connectionAgeMsMax,
    headerBytesMax: settings.responseHeaderBytesMax,
  })
  const { timeoutMs, responseBytesMax } = settings
  const deadlines = new Deadlines<HttpAttempt>(timeoutMs)
  const ownDeadlines = new Map<number, Deadlines<HttpAttempt>>([[timeoutMs, deadlines]])
  const context: AttemptContext = {
    connections,
    deadlines,
    deadlinesOf: (ms) => {
      const known = ownDeadlines.get(ms)
      if (known) return known
      const list = new Deadlines<HttpAttempt>(ms)
      ownDeadlines.set(ms, list)
      return list
    },
    results: new ResultQueue(),
    timeoutMs,
    responseBytesMax,
  }
  const endpoints = new LRUCache<string, HttpEndpoint>({ maxSize: ENDPOINTS_MAX, sizeCalculation: () => 1 })
  let closing = false

  const endpointOf = ({ url, route, memo }: EndpointOf): HttpEndpoint | undefined => {
    if (memo?.endpoint) return memo.endpoint
    const key = route ? `${route.key} ${route.headers?.join(' ') ?? ''} ${url}` : url
    let endpoint = endpoints.get(key)
    if (!endpoint) {
      endpoint = parseEndpoint(url, route)
      if (endpoint) endpoints.set(key, endpoint)
    }
    if (memo) memo.endpoint = endpoint
    return endpoint
  }

  const send: HttpSender['send'] = (request, done, again) => {
    const endpoint = endpointOf(request)
    if (endpoint && !closing && !request.signal?.aborted)
      new HttpAttempt(context, endpoint, request, { done, again })
    else context.results.push(done, refusalOf(request, closing))
  }

  return {
    send,
    timeoutMs,
    dial: connector,
    openAhead: (request) => {
      const endpoint = endpointOf(request)
      if (endpoint && !closing) connections.openAhead(endpoint.origin)
    },
    stats: () => {
      const inFlight = [...ownDeadlines.values()].reduce((sum, list) => sum + list.size, 0)
      return { inFlight, ...connections.stats() }
    },
    close: async (graceMs = timeoutMs) => {
      closing = true
      const lists = [...ownDeadlines.values()]
      const cut = setTimeout(() => {
        for (const list of lists) list.flush()
      }, graceMs)
      await Promise.all(lists.map((list) => list.quiet()))
      clearTimeout(cut)
      await context.results.whenEmpty()
      connections.close()
    },
  }
}

function refusalOf({ signal }: HttpRequest, closing: boolean): AttemptResult {
  if (closing) return failure('connection_failed', 'the sender is closed', 0)
  if (signal?.aborted) return failure('connection_failed', 'it was called off', 0)
  return failure('connection_failed', 'not an http or https URL', 0, true)
}

function parseEndpoint(text: string, route: Route | undefined): HttpEndpoint | undefined {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const named = url.username !== '' || url.password !== ''
  return {
    origin: {
      name: url.origin,
      key: route ? `${url.origin} ${route.key}` : url.origin,
      secure,
      host: hostOf(url),
      port,
      route,
    },
    path: url.pathname + url.search,
    credentials: named
      ? new Credentials(decodeUserinfo(url.username), decodeUserinfo(url.password))
      : undefined,
    headers: route?.headers,
  }
}
