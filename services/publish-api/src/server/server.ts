/**
 * The HTTP server around the app: limits for slow clients, the one form of errors for requests that reach no route, and
 * a clean end.
 */
import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { ApiSettings } from '@fantail/config'
import { FantailError } from '@fantail/contracts'
import { getRequestListener } from '@hono/node-server'
import { errorResponse } from '../http/error-answers.ts'
import type { App } from './mount.ts'

/**
 * A slower caller would hold a connection for nothing.
 * @limit Time that a request's headers, or a TLS handshake, may take. Past it: the connection is closed.
 */
const HEADERS_TIMEOUT_MS = 10_000
/** @limit Time that a request may take to arrive. Past it: the connection is closed. */
const REQUEST_TIMEOUT_MS = 30_000
/**
 * Longer than load balancers keep idle connections (60 s), so that this server never closes one that a load balancer is
 * about to use.
 */
const KEEP_ALIVE_MS = 65_000
/** For requests under way when the server stops. Waiting receives end at once. */
const CLOSE_GRACE_MS = 10_000
const IDLE_CHECK_MS = 50
/**
 * Time after the stop in which idle connections stay open. A caller with much to send has then sent one more request,
 * whose answer tells it to close the connection. If idle connections were closed at once, a request that is on its way
 * would be lost.
 */
const LAST_REQUEST_MS = 1_000
/**
 * Age at which a connection that has sent nothing counts as idle. A younger one is about to send its first request.
 * Go's HTTP server waits as long when it stops.
 */
const FIRST_REQUEST_MS = 5_000

export interface ApiServer {
  port: number
  /** Accepts no new connections, lets requests under way end, then cuts the rest. */
  close(): Promise<void>
}

interface Timeouts {
  headersMs: number
  requestMs: number
}

interface ListenOptions {
  host: string
  port: number
  /** Tests set their own. */
  timeouts?: Timeouts
  /** Serves https. */
  tls?: Tls | undefined
}

const TIMEOUTS: Timeouts = { headersMs: HEADERS_TIMEOUT_MS, requestMs: REQUEST_TIMEOUT_MS }
/** Node looks for connections past a timeout so often in its time. By default it looks every 30 s. */
const LOOKS_IN_TIMEOUT = 20

function serverOptions({ headersMs, requestMs }: Timeouts) {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: headersMs / LOOKS_IN_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
    // Otherwise Node would drop the second of two Content-Types, and the checked value would differ from the sent one.
    joinDuplicateHeaders: true,
  }
}

/** Rejects if the port is taken. */
export async function listen(app: App, options: ListenOptions): Promise<ApiServer> {
  const { host, port, tls, timeouts = TIMEOUTS } = options
  const serve = getRequestListener(app.fetch, { hostname: host, errorHandler: refuse })
  const openedAt = new Map<Socket, number>()
  let isClosing = false
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isClosing) outgoing.setHeader('connection', 'close')
    const problem = settleTarget(incoming)
    if (problem === undefined) void serve(incoming, outgoing)
    else void writeRefusal(outgoing, problem)
  }
  const server = tls
    ? createSecureServer(
        { ...serverOptions(timeouts), handshakeTimeout: timeouts.headersMs, ...tls },
        listener,
      )
    : createServer(serverOptions(timeouts), listener)
  server.on('connection', (socket: Socket) => {
    openedAt.set(socket, performance.now())
    socket.once('close', () => openedAt.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      isClosing = true
      return close(server, openedAt)
    },
  }
}

/** A target or Host header that is not a URL, or two hosts: only these fail before the app. */
function refuse(error: unknown): Response {
  const message = error instanceof Error ? error.message : 'the request could not be read'
  return errorResponse(new FantailError('validation_failed', message, { cause: error }), randomUUID())
}

/** Closes the connection too, because bytes after such a request may belong to another request. */
async function writeRefusal(outgoing: ServerResponse, problem: string): Promise<void> {
  const { status, headers, body } = refuse(new Error(problem))
  outgoing.writeHead(status, { ...Object.fromEntries(headers), connection: 'close' })
  outgoing.end(Buffer.from(await new Response(body).arrayBuffer()))
}

async function close(server: Server, openedAt: ReadonlyMap<Socket, number>): Promise<void> {
  // The method of the HTTP server would close idle connections at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  const refused = refuseHandedOver()
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS)
  await Promise.race([closed, delay(LAST_REQUEST_MS)])
  // Connections that are busy now would stay open after their answer. The loop reads what has arrived before immediates
  // run, so that a request which waits for a busy process is not taken for an idle connection.
  const idle = setInterval(() => setImmediate(closeIdle, server, openedAt), IDLE_CHECK_MS)
  await closed
  await refused
  clearInterval(idle)
  clearTimeout(cut)
  // Ends Node's looks for slow requests.
  server.close()
}

function closeIdle(server: Server, openedAt: ReadonlyMap<Socket, number>): void {
  server.closeIdleConnections()
  const openedBefore = performance.now() - FIRST_REQUEST_MS
  // Browsers open connections ahead. One that has never sent anything is not idle for Node.
  for (const [socket, at] of openedAt) if (socket.bytesRead === 0 && at < openedBefore) socket.destroy()
}

/**
 * `fantail all` hands connections over, and some may be on their way when this server closes. Node refuses them, and
 * another API gets them. All are refused when `fantail all` has answered, because messages keep their order.
 */
async function refuseHandedOver(): Promise<void> {
  if (!cluster.isWorker || !process.connected) return
  const answered = new Promise<void>((resolve) => {
    process.on('message', (message) => message === 'closed' && resolve())
  })
  process.send?.('closed')
  await Promise.race([answered, delay(CLOSE_GRACE_MS)])
}

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is

/**
 * Allows one host per request. An absolute request target (`GET http://host/path`) names a host in addition to the Host
 * header. The signature of AWS calls covers only the header, but links and queue URLs would be made from the target.
 * Both must therefore be equal, and the target is then served as its path. Its scheme must be the connection's too.
 * Otherwise `https://` in a target would count as a secure connection.
 *
 * Returns why the request cannot be served. undefined: it can, and its target is now a path.
 */
export function settleTarget(incoming: Pick<IncomingMessage, 'url' | 'headers'>): string | undefined {
  // A request of HTTP/1.0 may have no Host header. Several are joined by commas, so they are not a valid host.
  const { host = '' } = incoming.headers
  if (host !== '' && !HOST.test(host)) return 'the Host header is not a valid host'
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(incoming.url ?? '') ?? []
  if (scheme === '') return undefined
  if (!/^https?$/i.test(scheme)) return `nothing is served for targets of the scheme ${scheme}`
  if (authority.toLowerCase() !== host.toLowerCase()) return 'the request target names another host than Host'
  incoming.url = rest.startsWith('/') ? rest : `/${rest}`
  return undefined
}

/** PEM texts. */
export interface Tls {
  cert: string
  key: string
}

/** The API's certificate and key for https. undefined: the settings name no files. Throws if they cannot be used. */
export async function readTls(
  settings: Pick<ApiSettings, 'tlsCertFile' | 'tlsKeyFile'>,
): Promise<Tls | undefined> {
  const { tlsCertFile, tlsKeyFile } = settings
  if (!tlsCertFile || !tlsKeyFile) return undefined
  const [cert, key] = await Promise.all([readFile(tlsCertFile, 'utf8'), readFile(tlsKeyFile, 'utf8')])
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`FANTAIL_TLS_CERT_FILE and FANTAIL_TLS_KEY_FILE cannot be used: ${why}`)
  }
  return { cert, key }
}
