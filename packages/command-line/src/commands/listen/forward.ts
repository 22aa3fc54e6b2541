/** Forwards a message to the developer's own server, and keeps the beginning of its answer. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { QueueMessage } from '@fantail/consumer'
import {
  type ForwardRequest,
  forwardRequest,
  type ListenEnvelope,
  type RequestForm,
} from './forwarded-request.ts'

/**
 * Time of a request that `fantail listen` forwards. Past it: the message comes again. A delivery worker allows an
 * attempt the same time.
 */
const FORWARD_MS_MAX = 15_000
/** Body of an answer that `fantail listen` can show. Past it: the rest is left out. */
const ANSWER_BYTES_MAX = 4_096

interface ForwardOptions {
  url: URL
  /** Accepts any certificate. */
  skipVerify: boolean
}

/** A line of the output. */
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

/** A request and its answer, for people. */
export interface Exchange {
  line: Forwarded
  request: ForwardRequest
  answer: { headers: string[]; text: string }
}

interface Answer {
  statusCode: number | null
  error: string | null
  durationMs: number
  headers: string[]
  text: string
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

  /** Never throws: a failed request is a result, too. `signal` aborts the request. */
  async forward(
    { body, receiveCount }: QueueMessage,
    form: RequestForm,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const { url } = this.#options
    const { MessageId: messageId, TopicArn: topicArn } = JSON.parse(body) as ListenEnvelope
    const request = forwardRequest(body, form, Date.now())
    const at = new Date().toISOString()
    const { headers, text, ...result } = await this.send(request, signal)
    const line = { at, messageId, topicArn, attempt: receiveCount, url: url.href, ...result }
    return { line, request, answer: { headers, text } }
  }

  close(): void {
    this.#agent.destroy()
  }

  async send(request: ForwardRequest, signal: AbortSignal): Promise<Answer> {
    const began = performance.now()
    const answer = await this.#post(request, signal)
    return { ...answer, durationMs: Math.round(performance.now() - began) }
  }

  #post({ text, headers }: ForwardRequest, signal: AbortSignal): Promise<Omit<Answer, 'durationMs'>> {
    const { url } = this.#options
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException) => {
        const reason = signal.aborted ? 'interrupted' : (error.code ?? error.message)
        resolve({ statusCode: null, error: reason, headers: [], text: '' })
      }
      const request = send(url, { method: 'POST', headers, agent: this.#agent, signal }, (response) => {
        response.on('error', failed)
        readAnswer(response, resolve)
      })
      request.setTimeout(FORWARD_MS_MAX, () => {
        request.destroy(Object.assign(new Error('no answer in time'), { code: 'timeout' }))
      })
      request.on('error', failed).end(text)
    })
  }
}

function readAnswer(response: IncomingMessage, done: (answer: Omit<Answer, 'durationMs'>) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  response.on('data', (chunk: Buffer) => {
    if (length < ANSWER_BYTES_MAX) chunks.push(chunk.subarray(0, ANSWER_BYTES_MAX - length))
    length += chunk.length
  })
  response.on('end', () => {
    const headers = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`)
    const text = Buffer.concat(chunks).toString('utf8')
    done({ statusCode: response.statusCode ?? null, error: null, headers, text })
  })
}

export function isAccepted({ statusCode }: Pick<Answer, 'statusCode'>): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300
}
