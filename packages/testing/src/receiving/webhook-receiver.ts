/**
 * A webhook on loopback. It records every request and answers as the test says. A request is recorded when its body has
 * arrived, before it is answered. Without a script the answer is 200.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, type Step, waitBefore } from './answer-script.ts'
import { ReceiverRoute } from './receiver-route.ts'
import { RecordedRequest } from './recorded-request.ts'
import { type RequestLog, RequestView } from './request-view.ts'

/**
 * @limit memory (receiver of tests, each request) Bytes of a request's body that a receiver of tests takes. Past it:
 * the connection ends, unrecorded.
 */
const HOOK_BODY_BYTES_MAX = 16_777_216
/** Requests that a receiver of tests keeps. Past it: the oldest are forgotten. */
const REQUESTS_KEPT_MAX = 100_000

export interface ReceiverOptions {
  /** Default: a free one. */
  port?: number
  /** The longest time that `waitForRequests` waits, in ms. Default: 4,000. */
  timeoutMs?: number
  /** Returns further text for the errors of its waits. */
  explain?: () => Promise<string>
  /** The stack's time at a time of this machine. Default: the same. */
  timeOf?: (at: Date) => Date
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: options.port ?? 0, host: '127.0.0.1' }, resolve)
  })
  return new Receiver(server, options)
}

export class Receiver extends RequestView {
  readonly #server: Server
  readonly #log: RequestLog & { requests: RecordedRequest[] }
  readonly #routes = new Map<string, ReceiverRoute>()
  readonly #closing = new AbortController()
  readonly #timeOf: (at: Date) => Date

  constructor(server: Server, { timeoutMs, explain = async () => '', timeOf = (at) => at }: ReceiverOptions) {
    const log = { requests: [], timeoutMs, explain }
    super(log)
    this.#log = log
    this.#server = server
    this.#timeOf = timeOf
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#take(request, response).catch((error: Error) => response.destroy(error))
    })
  }

  /** The origin, without a path. The receiver accepts every path. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo | null)?.port ?? 0}`
  }

  /** A path whose answers can be set and whose requests can be read. The same path always gives the same object. */
  on(path: string): ReceiverRoute {
    if (!path.startsWith('/') || /[?#]/.test(path))
      throw new TypeError(`a path begins with / and has no query: ${path}`)
    const route = this.#routes.get(path) ?? new ReceiverRoute(this.url, path, this.#log)
    this.#routes.set(path, route)
    return route
  }

  /** Forgets requests and scripts. */
  clear(): void {
    this.#log.requests.length = 0
    this.#routes.clear()
  }

  /** Closes the connections, also those of requests that hang. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#closing.abort()
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  protected isOwn(): boolean {
    return true
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    if (!body) return
    const { method = '', url = '/', headers } = request
    const recorded = new RecordedRequest({ method, url, headers, body, at: new Date(), timeOf: this.#timeOf })
    const { requests } = this.#log
    requests.push(recorded)
    if (requests.length > REQUESTS_KEPT_MAX) requests.shift()
    const step = this.#routes.get(recorded.path)?.nextStep(recorded)
    if (step) await waitBefore(step, this.#closing.signal)
    recorded.answered = answer(response, step?.reply ?? 200)
  }
}

/** The whole body. undefined: the connection ended before the body was complete. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length
      // Leaving the loop ends the connection.
      if (bytes > HOOK_BODY_BYTES_MAX) return undefined
      chunks.push(chunk as Buffer)
    }
  } catch {
    return undefined // The client went away before the end.
  }
  return Buffer.concat(chunks)
}

/** The status. undefined: there is no answer. */
function answer(response: ServerResponse, reply: Step['reply']): number | undefined {
  if (reply === 'hang') return undefined
  if (reply === 'reset') {
    response.socket?.resetAndDestroy()
    return undefined
  }
  const { status = 200, headers = {}, body }: Answer = typeof reply === 'number' ? { status: reply } : reply
  const isJson = typeof body === 'object' && !(body instanceof Uint8Array)
  const content = isJson ? JSON.stringify(body) : body
  // Fantail repeats a request after a reset of a reused connection, and counts one attempt. So each request gets a new
  // connection, and every reset counts as an attempt.
  response.shouldKeepAlive = false
  response.writeHead(status, { ...(isJson && { 'Content-Type': 'application/json' }), ...headers })
  response.end(content)
  return status
}
