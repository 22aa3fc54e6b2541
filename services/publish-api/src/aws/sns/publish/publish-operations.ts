/**
 * Publish (checklist 117 to 125, 130 to 132) and PublishBatch. Their speed matters, so they use the same path as native
 * publishes.
 */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { MESSAGE_BYTES_MAX, parsePlatformEndpointArn } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import {
  type DirectTarget,
  endpointTarget,
  numberTarget,
  TargetRefusal,
} from '../../../direct/direct-targets.ts'
import { publishDirect } from '../../../direct/publish-direct.ts'
import { checkTypes } from '../../../messages/check-types.ts'
import { logPublished } from '../../../messages/log-published.ts'
import { makeMessages } from '../../../messages/make-messages.ts'
import { MessageStore } from '../../../messages/message-store.ts'
import { checkTopicArn, invalidParameter, isOfEndpoint, missingParameter } from '../wire/sns-parameters.ts'
import { publishBatchOperation } from './publish-batch.ts'
import {
  checkGroup,
  checkOrdering,
  checkStructure,
  knownTopic,
  MESSAGE_SHAPE,
  misfit,
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
  const checking = checkTypes(deps, topic, [message])
  const [refusal] = (checking instanceof Promise ? await checking : checking).refused
  if (refusal) throw misfit(refusal)
  const messages = makeMessages(deps, [message], { topic, publicUrl, traceHeader })
  const receipts = await ofTopic(() => store.store(topic, messages, bytes))
  logPublished(deps, { requestId, topicArn, receipts, bytes, replayed: false, startedAt })
  return { MessageId: receipts[0]?.messageId, SequenceNumber: receipts[0]?.sequenceNumber }
}

type TargetName = (typeof TARGETS)[number]
type DirectName = Exclude<TargetName, 'TopicArn'>
const TARGETS = ['TopicArn', 'TargetArn', 'PhoneNumber'] as const

/** The parameter that says where the message goes. TargetArn may be a topic's ARN, too. */
function targetNameOf(input: AwsInput): TargetName {
  const given = TARGETS.filter((name) => input[name] !== undefined)
  const [target] = given
  if (target === undefined) throw missingParameter('TopicArn or TargetArn')
  if (given.length === 1) return target
  throw invalidParameter(`${target} Reason: specify only one of TopicArn, TargetArn and PhoneNumber`)
}

interface ToTarget {
  call: AwsCall
  name: DirectName
  /** Monotonic ms. */
  startedAt: number
}

async function publishToTarget(
  tools: { deps: ApiDeps; store: MessageStore },
  input: AwsInput,
  { call, name, startedAt }: ToTarget,
) {
  const given = String(input[name])
  const { requestId, origin: publicUrl, traceHeader } = call
  const { message, bytes } = readMessage(input, readAttributes(input.MessageAttributes))
  checkGroup(input)
  if (bytes > MESSAGE_BYTES_MAX) throw invalidParameter('Message too long')
  try {
    const target = await targetOf(tools.deps, name, given, call)
    checkStructure(input, keysOf(given))
    const wanted = { target, message, bytes, publicUrl, traceHeader, requestId, startedAt }
    const { messageId } = await ofTopic(() => publishDirect(tools, wanted))
    return { MessageId: messageId }
  } catch (error) {
    throw error instanceof TargetRefusal ? refusalOf(error, name, given) : error
  }
}

/** Members of a JSON message that may be there instead of `default`. */
function keysOf(target: string): readonly string[] {
  const platform = parsePlatformEndpointArn(target)?.platform
  return platform === undefined ? ['sms'] : [platform, 'application']
}

/**
 * Without keys, an access key id may be any account. Topics for numbers then belong to the server's own account, so
 * that callers cannot make ever more of them.
 */
async function targetOf(
  deps: ApiDeps,
  name: DirectName,
  given: string,
  { account, principal }: AwsCall,
): Promise<DirectTarget> {
  if (name === 'TargetArn') return endpointTarget(deps, given)
  return numberTarget(deps, given, principal === undefined ? deps.settings.arn.account : account)
}

function refusalOf({ reason, message }: TargetRefusal, name: DirectName, given: string): AwsError {
  switch (reason) {
    case 'badNumber':
      return invalidParameter(`${name} Reason: ${given} is not valid to publish to`)
    case 'endpointDisabled':
      return new AwsError('EndpointDisabled', message)
    case 'applicationDisabled':
      return new AwsError('PlatformApplicationDisabled', message)
    case 'text':
      return invalidParameter(`Message Reason: ${message}`)
    default:
      return invalidParameter(`${name} Reason: ${message}`)
  }
}
