/** The attributes of requests and replies. Any program that sets them can take part, in any language. */
import type { MessageAttribute, QueueMessage } from '../sources/messages.ts'

const CORRELATION_ID = 'fantail.correlationId'
const REPLY_TO = 'fantail.replyTo'
const DEADLINE = 'fantail.deadline'
const OUTCOME = 'fantail.outcome'

export interface RequestHeaders {
  correlationId: string
  /** Name of the queue for the reply. */
  replyTo: string
  /** Epoch ms. */
  deadline: number
}

export type Outcome = 'ok' | 'refused'

type Attributes = Record<string, MessageAttribute>

export function requestAttributes({ correlationId, replyTo, deadline }: RequestHeaders): Attributes {
  return {
    [CORRELATION_ID]: text(correlationId),
    [REPLY_TO]: text(replyTo),
    [DEADLINE]: { type: 'Number', value: String(deadline) },
  }
}

/** undefined: the message is no request. */
export function readRequest({ attributes }: Pick<QueueMessage, 'attributes'>): RequestHeaders | undefined {
  const correlationId = attributes[CORRELATION_ID]?.value
  const replyTo = attributes[REPLY_TO]?.value
  const deadline = Number(attributes[DEADLINE]?.value ?? Number.NaN)
  if (!correlationId || !replyTo || !Number.isFinite(deadline)) return undefined
  return { correlationId, replyTo, deadline }
}

export function replyAttributes(correlationId: string, outcome: Outcome): Attributes {
  return { [CORRELATION_ID]: text(correlationId), [OUTCOME]: text(outcome) }
}

/** undefined: the message is no reply. */
export function readReply({ attributes }: Pick<QueueMessage, 'attributes'>) {
  const correlationId = attributes[CORRELATION_ID]?.value
  const outcome = attributes[OUTCOME]?.value
  if (!correlationId || (outcome !== 'ok' && outcome !== 'refused')) return undefined
  return { correlationId, outcome: outcome as Outcome }
}

function text(value: string): MessageAttribute {
  return { type: 'String', value }
}
