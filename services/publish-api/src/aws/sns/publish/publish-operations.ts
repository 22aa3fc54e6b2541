/**
 * Publish (checklist 117 to 125, 130 to 132) and PublishBatch. Their speed matters, so they use the same path as native
 * publishes.
 */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { logPublished } from '../../../messages/log-published.ts'
import { makeMessages } from '../../../messages/make-messages.ts'
import { MessageStore } from '../../../messages/message-store.ts'
import { checkTopicArn, invalidParameter, isOfEndpoint, missingParameter } from '../wire/sns-parameters.ts'
import { publishBatchOperation } from './publish-batch.ts'
import { publishToTarget } from './publish-to-target.ts'
import {
  checkOrdering,
  checkStructure,
  knownTopic,
  MESSAGE_SHAPE,
  ofTopic,
  readMessage,
} from './read-message.ts'
import { readAttributes } from './sns-message-attributes.ts'

export function publishOperations(deps: ApiDeps): Operation[] {
  const store = new MessageStore(deps)
  return [publishOperation(deps, store), publishBatchOperation(deps, store)]
}

function publishOperation(deps: ApiDeps, store: MessageStore): Operation {
  return {
    name: 'Publish',
    input: { TopicArn: 'string', TargetArn: 'string', PhoneNumber: 'string', ...MESSAGE_SHAPE },
    output: { MessageId: 'string', SequenceNumber: 'string' },
    run: (input, call) => publish({ deps, store }, input, call),
  }
}

interface Tools {
  deps: ApiDeps
  store: MessageStore
}

async function publish(tools: Tools, input: AwsInput, call: AwsCall) {
  const startedAt = performance.now()
  const name = targetNameOf(input)
  const arn = String(input[name])
  if (name === 'PhoneNumber' || (name === 'TargetArn' && isOfEndpoint(arn))) {
    return publishToTarget(tools, input, { call, name, startedAt })
  }
  return publishToTopic(tools, input, { call, topicArn: checkTopicArn(arn, call, name), startedAt })
}

interface ToTopic {
  call: AwsCall
  topicArn: string
  /** Monotonic ms. */
  startedAt: number
}

async function publishToTopic({ deps, store }: Tools, input: AwsInput, to: ToTopic) {
  const { call, topicArn, startedAt } = to
  const { requestId, origin: publicUrl, traceHeader } = call
  const { message, bytes } = readMessage(input, readAttributes(input.MessageAttributes))
  checkStructure(input)
  const topic = await knownTopic(deps, topicArn)
  checkOrdering(topic, input)
  if (bytes > topic.messageBytesMax) throw invalidParameter('Message too long')
  const messages = makeMessages(deps, [message], { topic, publicUrl, traceHeader })
  const receipts = await ofTopic(() => store.store(topic, messages, bytes))
  logPublished(deps, { requestId, topicArn, receipts, bytes, replayed: false, startedAt })
  return { MessageId: receipts[0]?.messageId, SequenceNumber: receipts[0]?.sequenceNumber }
}

type TargetName = (typeof TARGETS)[number]
const TARGETS = ['TopicArn', 'TargetArn', 'PhoneNumber'] as const

/** The parameter that says where the message goes. TargetArn may be a topic's ARN, too. */
function targetNameOf(input: AwsInput): TargetName {
  const given = TARGETS.filter((name) => input[name] !== undefined)
  const [target] = given
  if (target === undefined) throw missingParameter('TopicArn or TargetArn')
  if (given.length === 1) return target
  throw invalidParameter(`${target} Reason: specify only one of TopicArn, TargetArn and PhoneNumber`)
}
