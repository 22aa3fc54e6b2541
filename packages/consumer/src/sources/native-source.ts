/** A queue of Fantail, over its own API. */
import type {
  HandleResult,
  MessageAttribute,
  MessageSource,
  QueueMessage,
  ReceiveRequest,
} from './messages.ts'
import { type FantailQueueOptions, queueApi } from './native-api.ts'

/** Time of a request that does not wait for messages. Past it: the request has failed. */
const HANDLES_REQUEST_MS_MAX = 10_000
/** Messages of one receive of a consumer. Past it: another receive follows. */
const NATIVE_RECEIVE_MAX = 10
/** Handles that a consumer names in one request. Past it: another request follows. */
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

/** `queue`: its name or ARN. */
export function fantailQueue(queue: string, options: FantailQueueOptions = {}): MessageSource {
  const call = queueApi(options)
  const withHandles = async (action: string, body: object): Promise<HandleResult[]> => {
    const signal = AbortSignal.timeout(HANDLES_REQUEST_MS_MAX)
    const { results } = await call<{ results: HandleAnswer[] }>({ queue, action, body, signal })
    return results.map(resultOf)
  }

  return {
    name: queue,
    isFifo: queue.endsWith('.fifo'),
    receiveMax: NATIVE_RECEIVE_MAX,
    handlesMax: NATIVE_HANDLES_MAX,
    receive: async ({ maxMessages, waitSeconds, visibilitySeconds }: ReceiveRequest, signal) => {
      const body = { maxMessages, waitSeconds, visibilityTimeoutSeconds: visibilitySeconds }
      const request = { queue, action: 'receive', body, signal }
      const { messages } = await call<{ messages: NativeMessage[] }>(request)
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
