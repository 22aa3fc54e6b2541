/** A queue of Fantail, over its own API. */
import type {
  HandleResult,
  MessageAttribute,
  MessageSource,
  QueueMessage,
  ReceiveRequest,
} from './messages.ts'

export interface FantailQueueOptions {
  /** Where Fantail's API is. Default: `FANTAIL_URL`, else `http://127.0.0.1:4100`. */
  url?: string
  /** Needs the scope `consume`. Default: `FANTAIL_API_KEY`. */
  apiKey?: string
  /** Default: the global fetch. */
  fetch?: typeof fetch
}

const URL_DEFAULT = 'http://127.0.0.1:4100'
/** @limit Time of a request that does not wait for messages. Past it: the request has failed. */
const HANDLES_REQUEST_MS_MAX = 10_000
/** @limit Messages of one receive of a consumer. Past it: another receive follows. */
const NATIVE_RECEIVE_MAX = 10
/** @limit Handles that a consumer names in one request. Past it: another request follows. */
const NATIVE_HANDLES_MAX = 100

interface NativeMessage {
  messageId: string
  body: string
  receiveCount: number
  receiptHandle: string
  attributes: Record<string, MessageAttribute>
  sentAt: string
  groupId?: string
}

interface HandleAnswer {
  ok: boolean
  error?: string
}

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

/** `queue`: its name or ARN. */
export function fantailQueue(queue: string, options: FantailQueueOptions = {}): MessageSource {
  const { FANTAIL_URL, FANTAIL_API_KEY } = process.env
  const base = options.url ?? FANTAIL_URL ?? URL_DEFAULT
  const apiKey = options.apiKey ?? FANTAIL_API_KEY
  const doFetch = options.fetch ?? fetch
  if (!URL.canParse(base)) throw new TypeError(`the URL of Fantail is no URL: ${base}`)

  const call = async <T>(action: string, body: object, signal: AbortSignal): Promise<T> => {
    const url = new URL(`/v1/queues/${encodeURIComponent(queue)}/${action}`, base)
    const headers = {
      'content-type': 'application/json',
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    }
    const response = await doFetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal })
    const text = await response.text()
    if (!response.ok) throw refusal(action, response.status, text)
    return JSON.parse(text) as T
  }
  const withHandles = async (action: string, body: object): Promise<HandleResult[]> => {
    const { results } = await call<{ results: HandleAnswer[] }>(
      action,
      body,
      AbortSignal.timeout(HANDLES_REQUEST_MS_MAX),
    )
    return results.map(resultOf)
  }

  return {
    name: queue,
    isFifo: queue.endsWith('.fifo'),
    receiveMax: NATIVE_RECEIVE_MAX,
    handlesMax: NATIVE_HANDLES_MAX,
    receive: async ({ maxMessages, waitSeconds, visibilitySeconds }: ReceiveRequest, signal) => {
      const body = { maxMessages, waitSeconds, visibilityTimeoutSeconds: visibilitySeconds }
      const { messages } = await call<{ messages: NativeMessage[] }>('receive', body, signal)
      return messages.map(messageOf)
    },
    delete: (receiptHandles) => withHandles('ack', { receiptHandles }),
    hide: (receiptHandles, visibilityTimeoutSeconds) =>
      withHandles('visibility', { receiptHandles, visibilityTimeoutSeconds }),
  }
}

function messageOf({ messageId, body, receiveCount, receiptHandle, ...rest }: NativeMessage): QueueMessage {
  const { attributes, sentAt, groupId } = rest
  return { id: messageId, body, receiveCount, receiptHandle, attributes, sentAt: new Date(sentAt), groupId }
}

function resultOf({ ok, error }: HandleAnswer): HandleResult {
  if (ok) return undefined
  return error === 'visibility_limit_exceeded' ? 'limit' : 'lost'
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
