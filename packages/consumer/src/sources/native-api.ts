/** Requests to Fantail's own API about queues. */

export interface FantailQueueOptions {
  /** The address of Fantail's API. Default: `FANTAIL_URL`, or else `http://127.0.0.1:4100`. */
  url?: string
  /** Needs the scope `consume`. Default: `FANTAIL_API_KEY`. */
  apiKey?: string
  /** Default: the global fetch. */
  fetch?: typeof fetch
}

const URL_DEFAULT = 'http://127.0.0.1:4100'

/** Thrown if Fantail refused a request. */
export class QueueError extends Error {
  override readonly name = 'QueueError'
  /** HTTP status. */
  readonly status: number
  /** Fantail's error code, for example `not_found`; undefined if the answer had none. */
  readonly code: string | undefined

  constructor(message: string, status: number, code: string | undefined) {
    super(message)
    this.status = status
    this.code = code
  }
}

interface QueueRequest {
  method?: 'POST' | 'PUT' | 'DELETE'
  queue: string
  /** The rest of the path. Default: the queue itself. */
  action?: string
  body?: object
  signal: AbortSignal
}

/** Resolves with the answer's JSON, or with undefined if the answer has none. */
export type CallQueue = <T>(request: QueueRequest) => Promise<T>

/** Throws a `TypeError` if the URL is invalid. */
export function queueApi(options: FantailQueueOptions = {}): CallQueue {
  const { FANTAIL_URL, FANTAIL_API_KEY } = process.env
  const base = options.url ?? FANTAIL_URL ?? URL_DEFAULT
  const apiKey = options.apiKey ?? FANTAIL_API_KEY
  const doFetch = options.fetch ?? fetch
  if (!URL.canParse(base)) throw new TypeError(`the URL of Fantail is not valid: ${base}`)
  return async ({ method = 'POST', queue, action, body, signal }) => {
    const path = `/v1/queues/${encodeURIComponent(queue)}${action === undefined ? '' : `/${action}`}`
    const headers = {
      ...(body && { 'content-type': 'application/json' }),
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    }
    const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) }
    const response = await doFetch(new URL(path, base), init)
    const text = await response.text()
    if (!response.ok) throw refusal(action ?? method, response.status, text)
    return text === '' ? undefined : JSON.parse(text)
  }
}

function refusal(action: string, status: number, text: string): QueueError {
  const { code, message } = errorOf(text)
  return new QueueError(`${action} was answered ${status}: ${message ?? text.slice(0, 200)}`, status, code)
}

function errorOf(text: string): { code?: string; message?: string } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string } }
    return error ?? {}
  } catch {
    return {}
  }
}
