/** Serves health, readiness and metrics for services without another HTTP server. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { foreignHostText, type OwnHosts } from '@fantail/config'
import { ERROR_STATUS, type ErrorCode, FantailError } from '@fantail/contracts'
import type { Logger } from '../loops/logger.ts'
import type { Loop } from '../loops/loop.ts'
import { type ReadyOptions, readyAnswer } from './checks.ts'
import type { PermitMetrics } from './metrics-access.ts'

interface OpsServerOptions extends ReadyOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Time that the start waits for a taken port; default 0. */
  portWaitMs?: number
  log: Pick<Logger, 'error'>
  /** The text of a Prometheus scrape. */
  metrics: () => Promise<string>
  permitMetrics: PermitMetrics
  /** Host names that are served. */
  ownHosts: OwnHosts
}

export interface OpsServer extends Loop {
  /** Rejects if the port is taken. */
  start(): Promise<void>
  /** The port that it listens on. Only valid after `start`. */
  port(): number
}

interface Answer {
  status: number
  type: string
  body: string
}

/** An import would also load `WebSocket`, and with it Node's own `fetch`: a twentieth of a worker's start. */
const { createServer } = process.getBuiltinModule('node:http')

/** Prometheus's text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createOpsServer(options: OpsServerOptions): OpsServer {
  const server = createServer((request, response) => {
    void respond(options, request).then((answer) => send(response, answer))
  })
  return {
    start: () => listenPatiently(server, options),
    port: () => (server.address() as AddressInfo | null)?.port ?? options.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const PORT_AGAIN_MS = 50

async function listenPatiently(
  server: Server,
  options: Pick<OpsServerOptions, 'host' | 'port' | 'portWaitMs'>,
): Promise<void> {
  const until = performance.now() + (options.portWaitMs ?? 0)
  for (;;) {
    try {
      return await listenOnce(server, options)
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!isTaken || performance.now() >= until) throw error
      await delay(PORT_AGAIN_MS)
    }
  }
}

function listenOnce(server: Server, { host, port }: Pick<OpsServerOptions, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // Without `exclusive`, the APIs of `fantail all` would share the port.
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function respond(options: OpsServerOptions, request: IncomingMessage): Promise<Answer> {
  const { host } = request.headers
  if (!options.ownHosts.has(host)) return failure('forbidden', foreignHostText(String(host)))
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return failure('method_not_allowed', 'only GET is served')
  try {
    switch (request.url?.split('?', 1)[0]) {
      case '/healthz':
        return json(200, { status: 'ok' })
      case '/readyz': {
        const { status, body } = await readyAnswer(options)
        return json(status, body)
      }
      case '/metrics':
        await options.permitMetrics(request.headers.authorization)
        return { status: 200, type: METRICS_CONTENT_TYPE, body: await options.metrics() }
      default:
        return failure('not_found', 'here are /healthz, /readyz and /metrics')
    }
  } catch (error) {
    if (error instanceof FantailError) return failure(error.code, error.message)
    options.log.error({ err: error, url: request.url }, 'ops.failed')
    return failure('internal', 'this could not be answered; the log says why')
  }
}

function json(status: number, value: unknown): Answer {
  return { status, type: 'application/json', body: JSON.stringify(value) }
}

function failure(code: ErrorCode, message: string): Answer {
  return json(ERROR_STATUS[code], { error: { code, message } })
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  })
  response.end(body)
}
