/** Receives the messages of one request, as many as the consumer wants, by several small receives. */
import type { PushConsumerRecord, QueueMessage } from '@fantail/contracts'
import type { Queues, Received } from '@fantail/store'

/**
 * @limit Approximate bytes of bodies and attributes in one pushed batch. Past it: the batch is sent without further
 * messages.
 */
export const PUSH_BATCH_BYTES_MAX = 4_194_304
/** Messages of the first receive. The sizes of these messages show how many the next receive may bring. */
const FIRST_RECEIVE_MAX = 10
/**
 * Messages that one receive adds to a batch. Past it: a further receive follows. One script must not block Redis for
 * too long.
 */
const PUSH_RECEIVE_MAX = 100
/**
 * Time for collecting the batch, and for reading the answer and settling the batch after a request that took all of its
 * time.
 */
const SETTLE_MS = 5_000
/**
 * Time after which no further receive adds to a batch. Past it: the batch is sent as it is. Behind a distant Redis, the
 * first messages would otherwise become visible again while the request still runs.
 */
const COLLECT_MS_MAX = 1_000

interface BatchRequest {
  record: PushConsumerRecord
  batch: string
  /** Batches that have ended. Their leases are given back. */
  ended: string[]
}

export interface Batch {
  messages: QueueMessage[]
  bytes: number
  /** Until this time, by performance.now(), no other receiver gets the messages. */
  hiddenUntil: number
  /** The result of the last receive. */
  received: Received
}

/**
 * Messages stay hidden for the longer of two times: the queue's visibility timeout, or the request's timeout plus
 * SETTLE_MS.
 */
export async function collectBatch(
  queues: Pick<Queues, 'receiveOnce'>,
  { record, batch, ended }: BatchRequest,
): Promise<Batch> {
  const { queueArn, name, revision, batchSize, timeoutSeconds } = record
  const hideMs = timeoutSeconds * 1_000 + SETTLE_MS
  const from = performance.now()
  const receive = (maxMessages: number, given: string[]) =>
    queues.receiveOnce(queueArn, { maxMessages, consumer: { name, revision, batch, hideMs, ended: given } })
  let wanted = Math.min(batchSize, FIRST_RECEIVE_MAX)
  let received = await receive(wanted, ended)
  const messages = [...received.messages]
  let bytes = bytesOf(messages)
  while (received.messages.length === wanted && performance.now() - from < COLLECT_MS_MAX) {
    wanted = nextWanted({ batchSize, messages: messages.length, bytes })
    if (wanted === 0) break
    try {
      received = await receive(wanted, [])
    } catch {
      // The messages received so far are pushed. The next receive reports why there are no more.
      break
    }
    messages.push(...received.messages)
    bytes += bytesOf(received.messages)
  }
  return { messages, bytes, hiddenUntil: from + hideMs, received }
}

interface Collected {
  batchSize: number
  messages: number
  bytes: number
}

/** The number of messages for the next receive, from the size of those received so far. */
function nextWanted({ batchSize, messages, bytes }: Collected): number {
  const fit = Math.floor((PUSH_BATCH_BYTES_MAX - bytes) / Math.max(bytes / messages, 1))
  return Math.max(Math.min(batchSize - messages, PUSH_RECEIVE_MAX, fit), 0)
}

function bytesOf(messages: readonly QueueMessage[]): number {
  let bytes = 0
  for (const { body, attributes } of messages) {
    bytes += Buffer.byteLength(body)
    for (const { value } of Object.values(attributes)) bytes += value.length
  }
  return bytes
}
