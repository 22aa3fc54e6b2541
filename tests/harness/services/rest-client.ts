/** A small client of the REST API: JSON in and out, with one connection pool. It follows the API to a new port. */
import { Agent, request } from 'undici'

export interface Answer<T = unknown> {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The parsed JSON, or the text if it is not JSON. */
  body: T
}

interface CallOptions {
  body?: unknown
  /** Sent unchanged, instead of a JSON body. */
  rawBody?: string | Buffer
  headers?: Record<string, string>
}

export interface ErrorBody {
  error: { code: string; message: string; details?: { path: string; message: string }[] }
  requestId: string
}

export class RestClient {
  readonly #origin: () => string
  readonly #headers: Record<string, string>
  readonly #agent = new Agent({ connections: 256, bodyTimeout: 30_000, headersTimeout: 30_000 })

  /** `origin` is called before every request. Every request has `headers`. */
  constructor(origin: () => string, headers: Record<string, string> = {}) {
    this.#origin = origin
    this.#headers = headers
  }

  /** Resolves with any status. Rejects only if there was no answer. */
  async call<T = unknown>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const { body, rawBody } = options
    const json = body === undefined ? undefined : JSON.stringify(body)
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(`${this.#origin()}${path}`, {
      method: method as 'GET',
      headers: { ...this.#headers, ...type, ...options.headers },
      body: rawBody ?? json ?? null,
      dispatcher: this.#agent,
    })
    const text = await answer.text()
    const isJson = String(headers['content-type'] ?? '').includes('json')
    return { status: statusCode, headers, body: (isJson ? JSON.parse(text) : text) as T }
  }

  async get<T>(path: string): Promise<T> {
    return this.#body<T>('GET', path)
  }

  async put<T>(path: string, body: unknown = {}): Promise<T> {
    return this.#body<T>('PUT', path, body)
  }

  async patch<T>(path: string, body: unknown): Promise<T> {
    return this.#body<T>('PATCH', path, body)
  }

  async post<T>(path: string, body?: unknown): Promise<T> {
    return this.#body<T>('POST', path, body)
  }

  async delete(path: string): Promise<void> {
    await this.#body('DELETE', path)
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #body<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.call<T>(method, path, { body })
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
}
