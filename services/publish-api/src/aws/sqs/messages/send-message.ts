/** SendMessage and SendMessageBatch: one script call each. */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { FantailError, type QueueRecord } from '@fantail/contracts'
import type { SentItem } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { checkKmsUse } from '../../../messages/kms-use.ts'
import { outcomeOf } from '../../wire/thrown-errors.ts'
import { knownQueue, whereQueueExists } from '../wire/queue-url.ts'
import { invalidParameterValue, sqsError } from '../wire/sqs-error.ts'
import { batchShapes, SENT_MESSAGE, SENT_RESULT } from '../wire/sqs-shapes.ts'
import { accepted, batchAnswer, readEntries } from './message-batches.ts'
import {
  ENTRY_TOO_LONG,
  missingDeduplicationId,
  missingOrder,
  readMessage,
  type SentMessage,
  sentBytes,
} from './sent-message.ts'
import { refuseLists } from './sqs-message-attributes.ts'

const BATCH = 'SendMessageBatch'
/**
 * The same bound as for a single message: the largest that any queue takes.
 * @limit Messages of a SendMessageBatch together. Past it: the request is refused.
 */
const SQS_BATCH_BYTES_MAX = 1_048_576

export function sendOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'SendMessage',
      input: { QueueUrl: 'string', ...SENT_MESSAGE },
      output: SENT_RESULT,
      run: (input, call) => sendMessage(deps, input, call),
    },
    {
      name: BATCH,
      ...batchShapes(BATCH, SENT_MESSAGE, SENT_RESULT),
      run: (input, call) => sendBatch(deps, input, call),
    },
  ]
}

async function sendMessage(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const queue = await knownQueue(deps, input, call)
  refuseLists(input, 'SendMessage')
  const message = readMessage(input, { queue, call })
  const [sent] = await send(deps, { queue, messages: [message], call })
  return resultOf(message, sent)
}

async function sendBatch(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const queue = await knownQueue(deps, input, call)
  const entries = readEntries(input, BATCH)
  for (const entry of entries) refuseLists(entry, BATCH)
  checkBytes(entries)
  for (const entry of entries) checkOrder(entry, queue)
  const reading = { queue, call, tooLong: ENTRY_TOO_LONG }
  const outcomes = entries.map((entry) => outcomeOf(() => readMessage(entry, reading)))
  const messages = accepted(outcomes)
  const sent = messages.length === 0 ? [] : await send(deps, { queue, messages, call })
  let next = 0
  const results = outcomes.map((outcome) =>
    outcome instanceof AwsError ? outcome : resultOf(outcome, sent[next++]),
  )
  return batchAnswer(entries, results)
}

function checkBytes(entries: AwsInput[]): void {
  const bytes = entries.reduce((sum, entry) => sum + sentBytes(entry), 0)
  if (bytes <= SQS_BATCH_BYTES_MAX) return
  const text = `Batch requests cannot be longer than ${SQS_BATCH_BYTES_MAX} bytes. You have sent ${bytes} bytes.`
  throw sqsError('BatchRequestTooLong', text)
}

/** If an entry lacks a member that a FIFO queue requires, a batch has one error code for all of these members. */
function checkOrder(entry: AwsInput, queue: QueueRecord): void {
  const missing = missingOrder(entry, queue)
  if (missing) throw invalidParameterValue(missing.message)
}

interface Sending {
  queue: QueueRecord
  messages: SentMessage[]
  call: AwsCall
}

async function send(deps: ApiDeps, { queue, messages, call }: Sending): Promise<SentItem[]> {
  const { storageGuard, queues, log } = deps
  checkKmsUse(deps, queue)
  const waiting = storageGuard.admit()
  if (waiting) await waiting
  const items = messages.map(({ item }) => item)
  const sent = await whereQueueExists(call, queues.send(queue.arn, items)).catch(refused)
  if (log.isLevelEnabled('info')) {
    log.info({ requestId: call.requestId, queueArn: queue.arn, messages: items.length }, 'queue.sent')
  }
  return sent
}

/** The queue's settings may have changed since they were cached. */
function refused(error: unknown): never {
  if (error instanceof FantailError && error.details?.[0]?.path === 'deduplicationId') {
    throw missingDeduplicationId()
  }
  throw error
}

function resultOf({ digests }: SentMessage, sent: SentItem | undefined): Record<string, unknown> {
  return { ...digests, MessageId: sent?.messageId, SequenceNumber: sent?.sequenceNumber }
}
