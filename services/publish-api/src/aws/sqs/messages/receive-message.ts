/** ReceiveMessage (checklist 168 to 171). Short polls ask once, and long polls wait in line (QueueWaits). */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import {
  parseArn,
  QUEUE_RECEIVE_MAX,
  QUEUE_VISIBILITY_SECONDS_MAX,
  QUEUE_WAIT_SECONDS_MAX,
  type QueueMessage,
  type QueueRecord,
} from '@fantail/contracts'
import { md5OfAttributes, md5OfBody, SYSTEM_ATTRIBUTE_NAMES, systemAttributes } from '@fantail/delivery'
import { AttemptChangedError, OverLimitError, type WaitingReceive } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { isQueueAttribute } from '../queues/queue-attributes.ts'
import { knownQueue, whereQueueExists } from '../wire/queue-url.ts'
import { invalidValue, sqsError } from '../wire/sqs-error.ts'
import { ATTRIBUTES, MESSAGE_ATTRIBUTES } from '../wire/sqs-shapes.ts'
import { readId } from './sent-message.ts'
import { attributeValues, selectAttributes } from './sqs-message-attributes.ts'

export function receiveOperation(deps: ApiDeps): Operation {
  return {
    name: 'ReceiveMessage',
    input: {
      QueueUrl: 'string',
      AttributeNames: { list: 'string', flat: 'AttributeName' },
      MessageSystemAttributeNames: { list: 'string', flat: 'MessageSystemAttributeName' },
      MessageAttributeNames: { list: 'string', flat: 'MessageAttributeName' },
      MaxNumberOfMessages: 'integer',
      VisibilityTimeout: 'integer',
      WaitTimeSeconds: 'integer',
      ReceiveRequestAttemptId: 'string',
    },
    output: {
      Messages: {
        list: {
          struct: {
            MessageId: 'string',
            ReceiptHandle: 'string',
            MD5OfBody: 'string',
            Body: 'string',
            Attributes: ATTRIBUTES,
            MD5OfMessageAttributes: 'string',
            MessageAttributes: MESSAGE_ATTRIBUTES,
          },
        },
        flat: 'Message',
      },
    },
    run: (input, call) => receiveMessage(deps, input, call),
  }
}

async function receiveMessage(deps: ApiDeps, input: AwsInput, call: AwsCall) {
  const queue = await knownQueue(deps, input, call)
  const selection = readSelection(input)
  const request = readRequest(input, queue)
  const messages = await receive(deps, { queue, request, call })
  if (messages.length === 0) return {}
  if (deps.log.isLevelEnabled('info')) {
    const line = { requestId: call.requestId, queueArn: queue.arn, messages: messages.length }
    deps.log.info(line, 'queue.received')
  }
  const owner = parseArn(queue.arn)?.account ?? ''
  return { Messages: messages.map((message) => messageView(message, selection, owner)) }
}

function readRequest(input: AwsInput, queue: QueueRecord): WaitingReceive {
  const attemptId =
    input.ReceiveRequestAttemptId === '' ? undefined : readId(input, 'ReceiveRequestAttemptId')
  const visibility = readVisibility(input)
  return {
    maxMessages: readCount(input),
    waitSeconds: readWait(input) ?? queue.receiveWaitSeconds,
    ...(visibility !== undefined && { visibilityTimeoutSeconds: visibility }),
    ...(attemptId !== undefined && { attemptId }),
  }
}

function readCount({ MaxNumberOfMessages: count }: AwsInput): number {
  if (typeof count !== 'number') return 1
  if (count >= 1 && count <= QUEUE_RECEIVE_MAX) return count
  throw invalidValue('MaxNumberOfMessages', count, `Must be between 1 and ${QUEUE_RECEIVE_MAX}, if provided.`)
}

function readWait({ WaitTimeSeconds: wait }: AwsInput): number | undefined {
  if (typeof wait !== 'number' || (wait >= 0 && wait <= QUEUE_WAIT_SECONDS_MAX)) {
    return wait as number | undefined
  }
  throw invalidValue('WaitTimeSeconds', wait, `Must be >= 0 and <= ${QUEUE_WAIT_SECONDS_MAX}, if provided.`)
}

/** The timeout of a receive, or of a change of visibility. */
export function readVisibility({ VisibilityTimeout: seconds }: AwsInput): number | undefined {
  if (typeof seconds !== 'number' || (seconds >= 0 && seconds <= QUEUE_VISIBILITY_SECONDS_MAX)) {
    return seconds as number | undefined
  }
  const reason = `Must be >= 0 and <= ${QUEUE_VISIBILITY_SECONDS_MAX}, if provided.`
  throw invalidValue('VisibilityTimeout', seconds, reason)
}

interface Receiving {
  queue: QueueRecord
  request: WaitingReceive
  call: AwsCall
}

async function receive({ queues, queueWaits, leaseRenewals }: ApiDeps, { queue, request, call }: Receiving) {
  await whereQueueExists(call, leaseRenewals.received(queue))
  const messages: Promise<QueueMessage[]> =
    request.waitSeconds > 0
      ? queueWaits.receiveWaiting(queue.arn, { ...request, ...(call.signal && { signal: call.signal }) })
      : queues.receive(queue.arn, request)
  try {
    return await whereQueueExists(call, messages)
  } catch (error) {
    if (error instanceof OverLimitError) {
      throw sqsError('OverLimit', 'Too many messages of the queue are in flight.', error)
    }
    if (!(error instanceof AttemptChangedError)) throw error
    const reason = 'The receiveRequestAttemptId is not valid anymore since the receive call is not retryable.'
    throw invalidValue('ReceiveRequestAttemptId', request.attemptId, reason)
  }
}

interface Selection {
  /** Names of system attributes. */
  system: readonly string[]
  /** Names of message attributes, patterns included. */
  message: readonly string[]
}

const SYSTEM_NAMES = new Set(SYSTEM_ATTRIBUTE_NAMES)

/**
 * A received message in SQS's form, with the requested attributes and their digests. Throws `InvalidAttributeName` if a
 * system attribute does not exist.
 */
function readSelection(input: AwsInput): Selection {
  const asked = [...list(input.AttributeNames), ...list(input.MessageSystemAttributeNames)]
  for (const name of asked) {
    if (name === 'All' || SYSTEM_NAMES.has(name) || isQueueAttribute(name)) continue
    throw sqsError('InvalidAttributeName', `Unknown Attribute ${name}.`)
  }
  const system = asked.includes('All')
    ? SYSTEM_ATTRIBUTE_NAMES
    : asked.filter((name) => SYSTEM_NAMES.has(name))
  return { system, message: list(input.MessageAttributeNames) }
}

function list(names: unknown): string[] {
  return (names ?? []) as string[]
}

/** `owner` is the queue's account. */
function messageView(message: QueueMessage, selection: Selection, owner: string): object {
  const system = selection.system.length > 0 ? systemAttributes(message, owner, selection.system) : {}
  const selected = selectAttributes(message.attributes, selection.message)
  const digest = md5OfAttributes(selected)
  return {
    MessageId: message.messageId,
    ReceiptHandle: message.receiptHandle,
    MD5OfBody: md5OfBody(message.body),
    Body: message.body,
    ...(Object.keys(system).length > 0 && { Attributes: system }),
    ...(digest !== undefined && {
      MD5OfMessageAttributes: digest,
      MessageAttributes: attributeValues(selected),
    }),
  }
}
