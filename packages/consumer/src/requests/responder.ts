/**
 * Answers requests of a queue.
 *
 * received ─▶ its deadline has passed: dropped, because nobody waits any more
 *          ─▶ handler ─▶ returns: the reply is sent, then the request is deleted
 *                      ─▶ throws RequestRefused: the same with the refusal
 *                      ─▶ throws: comes again after the backoff, until its deadline
 *
 * A responder that dies between reply and deletion answers twice. The requester takes the first reply.
 */
import { type ConsumeOptions, consume } from '../consume.ts'
import type { HandlerContext } from '../handling.ts'
import type { Consumer } from '../queue-consumer.ts'
import { HIDDEN_SECONDS_MAX, type MessageSource, type QueueMessage } from '../sources/messages.ts'
import { QueueError, queueApi } from '../sources/native-api.ts'
import { type Outcome, type RequestHeaders, readRequest, replyAttributes } from './request-attributes.ts'
import { RequestRefused } from './request-errors.ts'

/** Time of one send of a reply. Past it: the request is answered again after its backoff. */
const REPLY_SEND_MS_MAX = 10_000

export interface RequestContext extends HandlerContext {
  correlationId: string
  /** Epoch ms. At this time `signal` aborts, and the requester has given up. */
  deadline: number
}

/** Its result is the reply. A string is sent as it is, anything else as JSON. */
export type RequestHandler = (message: QueueMessage, context: RequestContext) => unknown

/** Requests that failed are soon visible again, because the requester waits. */
const REQUEST_BACKOFF = 1

/**
 * `queue`: a name, an ARN or a source. A message without the attributes of a request fails, and is handled as a
 * poisonous message.
 */
export function respond(
  queue: string | MessageSource,
  handler: RequestHandler,
  options: ConsumeOptions = {},
): Consumer {
  const call = queueApi(options.fantail)
  const send = async ({ replyTo, correlationId }: RequestHeaders, outcome: Outcome, body: string) => {
    const reply = { body, attributes: replyAttributes(correlationId, outcome) }
    const signal = AbortSignal.timeout(REPLY_SEND_MS_MAX)
    await call({ queue: replyTo, action: 'messages', body: reply, signal }).catch(unlessGone)
  }
  const answer = async (message: QueueMessage, context: HandlerContext) => {
    const request = readRequest(message)
    if (!request) throw new TypeError(`message ${message.id} is not a request`)
    const { correlationId, deadline } = request
    const leftMs = deadline - Date.now()
    if (leftMs <= 0) return
    const late = AbortSignal.timeout(Math.min(leftMs, HIDDEN_SECONDS_MAX * 1_000))
    const signal = AbortSignal.any([context.signal, late])
    try {
      const result = await handler(message, { ...context, signal, correlationId, deadline })
      await send(request, 'ok', textOf(result))
    } catch (error) {
      if (error instanceof RequestRefused) await send(request, 'refused', error.message)
      // After the deadline nobody waits for the reply, so the request is not repeated.
      else if (Date.now() < deadline || context.signal.aborted) throw error
    }
  }
  return consume(queue, answer, { backoff: () => REQUEST_BACKOFF, ...options })
}

/** Ignores the error if the requester has ended, and its queue with it. */
function unlessGone(error: unknown): void {
  if (error instanceof QueueError && error.code === 'not_found') return
  throw error
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}
