/** A request that the receiver got. */
import type { IncomingHttpHeaders } from 'node:http'
import { type VerifyWebhookOptions, verifyWebhook, type WebhookEvent } from '@fantail/client'

interface Parts {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
  at: Date
  /** The stack's time at a time of this machine. */
  timeOf: (at: Date) => Date
}

/** A recorded request. `verifyWebhook` and `verifySnsMessage` of `@fantail/client` accept it. */
export class RecordedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** When its body had arrived. */
  readonly at: Date
  /** The status of the answer. undefined: there is no answer yet, or there was none. */
  answered: number | undefined
  readonly #timeOf: (at: Date) => Date

  constructor({ method, url, headers, body, at, timeOf }: Parts) {
    const { pathname, searchParams } = new URL(url, 'http://receiver')
    this.method = method
    this.path = pathname
    this.query = searchParams
    this.headers = headers
    this.body = body
    this.at = at
    this.#timeOf = timeOf
  }

  /** The time `at` by the stack's clock, which `advance` moves. */
  get time(): Date {
    return this.#timeOf(this.at)
  }

  get text(): string {
    return this.body.toString('utf8')
  }

  /** The body as JSON. Throws if it is not JSON. */
  json(): unknown {
    return JSON.parse(this.text)
  }

  /** Id of the published message. undefined: the request is not from Fantail. */
  get messageId(): string | undefined {
    return this.#header('x-amz-sns-message-id') ?? this.#header('webhook-id')
  }

  /** Id of the subscription that the request is for. */
  get subscriptionId(): string | undefined {
    return this.#header('x-amz-sns-subscription-arn')?.split(':').at(-1)
  }

  /** The published message without the envelope: the parsed JSON if it is an object or array, otherwise the text. */
  get message(): unknown {
    const envelope = this.#envelope()
    const text = typeof envelope?.Message === 'string' ? envelope.Message : this.text
    return objectIn(text) ?? text
  }

  /** The message's attributes, by name. Without an envelope there are none. */
  get attributes(): Record<string, string> {
    const attributes = (this.#envelope()?.MessageAttributes ?? {}) as Record<string, { Value: string }>
    return Object.fromEntries(Object.entries(attributes).map(([name, { Value }]) => [name, Value]))
  }

  /** Checks the signature of Standard Webhooks. Rejects with a VerifyError of `@fantail/client`. */
  verify(
    keys: string | readonly string[],
    options: Omit<VerifyWebhookOptions, 'keys'> = {},
  ): Promise<WebhookEvent> {
    return verifyWebhook(this, { ...options, keys: typeof keys === 'string' ? [keys] : keys })
  }

  /** The request as one line, for messages of failed tests. */
  toString(): string {
    const answer = this.answered === undefined ? 'no answer' : `answered ${this.answered}`
    return `${this.at.toISOString()} ${this.method} ${this.path} ${this.messageId ?? ''} ${answer}`
  }

  #header(name: string): string | undefined {
    const value = this.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  #envelope(): Record<string, unknown> | undefined {
    if (this.#header('x-amz-sns-rawdelivery') === 'true') return undefined
    const envelope = objectIn(this.text) as Record<string, unknown> | undefined
    return envelope?.Type === 'Notification' ? envelope : undefined
  }
}

function objectIn(text: string): object | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined // It is plain text.
  }
}
