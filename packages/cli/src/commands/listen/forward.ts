/** Forwards a message to the developer's own server, as a webhook subscription would get it. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { QueueMessage } from '@fantail/consumer'

/**
 * The time of an attempt by a delivery worker.
 * @limit Time of a request that `fantail listen` forwards. Past it: the message comes again.
 */
const FORWARD_MS_MAX = 15_000

interface ForwardOptions {
  url: URL
  /** Further headers, by name. They replace those of the same name. */
  headers: Record<string, string>
  /** Accepts any certificate. */
  skipVerify: boolean
  /** Sends the bare message in place of the envelope. */
  raw: boolean
}

export interface Forwarded {
  at: string
  messageId: string
  topicArn: string
  /** From 1. */
  attempt: number
  url: string
  /** null: there was no answer. */
  statusCode: number | null
  /** Why there was no answer; null: there was one. */
  error: string | null
  durationMs: number
}

/** The envelope of a notification, as a queue gets it. */
interface Envelope {
  MessageId: string
  TopicArn: string
  Message: string
}

interface Answer {
  statusCode: number | null
  error: string | null
}

export class Forwarder {
  readonly #options: ForwardOptions
  readonly #agent: HttpAgent | HttpsAgent

  constructor(options: ForwardOptions) {
    this.#options = options
    this.#agent =
      options.url.protocol === 'https:'
        ? new HttpsAgent({ keepAlive: true, rejectUnauthorized: !options.skipVerify })
        : new HttpAgent({ keepAlive: true })
  }

  /** Never throws: no answer is a result, too. `signal` cuts the request short. */
  async forward({ body, receiveCount }: QueueMessage, signal: AbortSignal): Promise<Forwarded> {
    const { url, raw, headers } = this.#options
    const envelope = JSON.parse(body) as Envelope
    const text = raw ? envelope.Message : body
    const began = performance.now()
    const at = new Date().toISOString()
    const answer = await this.#post(text, { ...headersOf(envelope, raw), ...lowerCased(headers) }, signal)
    const { MessageId: messageId, TopicArn: topicArn } = envelope
    const durationMs = Math.round(performance.now() - began)
    return { at, messageId, topicArn, attempt: receiveCount, url: url.href, ...answer, durationMs }
  }

  close(): void {
    this.#agent.destroy()
  }

  #post(text: string, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    const { url } = this.#options
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException) =>
        resolve({ statusCode: null, error: signal.aborted ? 'interrupted' : (error.code ?? error.message) })
      const request = send(url, { method: 'POST', headers, agent: this.#agent, signal }, (response) => {
        response.on('error', failed).on('end', () => {
          resolve({ statusCode: response.statusCode ?? null, error: null })
        })
        response.resume()
      })
      request.setTimeout(FORWARD_MS_MAX, () => {
        request.destroy(Object.assign(new Error('no answer in time'), { code: 'timeout' }))
      })
      request.on('error', failed).end(text)
    })
  }
}

/** Those of a delivery over HTTP. Content-Length and Host are added by Node. */
function headersOf({ MessageId, TopicArn, Message }: Envelope, raw: boolean): Record<string, string> {
  return {
    'x-amz-sns-message-type': 'Notification',
    'x-amz-sns-message-id': MessageId,
    'x-amz-sns-topic-arn': TopicArn,
    'user-agent': 'fantail-listen',
    'content-type': !raw || isJson(Message) ? 'application/json' : 'text/plain; charset=UTF-8',
    ...(raw && { 'x-amz-sns-rawdelivery': 'true' }),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
