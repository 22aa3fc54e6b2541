/**
 * The rights that each operation of the AWS APIs needs, like native-rules.ts for routes. A malformed ARN or URL is
 * refused here in the operation's own words, before the right to it is checked, as in AWS. Another invalid name gives
 * no target, because the operation itself refuses it.
 */
import type { Target } from '@fantail/access'
import type { AwsCall, AwsInput, AwsService } from '@fantail/aws-wire'
import {
  isProtocol,
  KEY_SCOPES,
  type KeyScope,
  nameOfArn,
  objectOf,
  parseArn,
  parsePlatformEndpointArn,
  platformApplicationArn,
  queueArn,
  topicArn,
  withoutSubscription,
} from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import { directTargets, endpointTargets, originsOf, subscribing as subscribedTo } from '../auth/targets.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { eventTopicsIn } from '../mobile-push/application-settings.ts'
import { checkApplicationForm, checkEndpointForm } from './sns/mobile-push/mobile-push-refusals.ts'
import { checkConfirmedTopic } from './sns/subscriptions/linked-operations.ts'
import {
  checkSubscriptionArn,
  checkTopicArn,
  invalidParameter,
  isOfEndpoint,
} from './sns/wire/sns-parameters.ts'
import { parseTaskHandle } from './sqs/move-tasks/move-tasks.ts'
import { checkQueueArn, queueArnOf } from './sqs/wire/queue-url.ts'

type Find = (input: AwsInput, call: AwsCall, settings: ApiDeps['settings']) => Target[]

interface AwsRule {
  need: readonly KeyScope[]
  change?: true
  /** Only for keys of the server's own account without prefixes. */
  wholeServer?: true
  targets?: Find
  /** Targets that only Redis knows. They are looked up for keys that are restricted to some names. */
  further?: (input: AwsInput, deps: ApiDeps) => Promise<Target[]>
  /** Set if the result is a list: how to find the topic or queue of each item. */
  list?: { member: string; nameOf: (item: unknown) => string }
}

const READ = ['read'] as const
const MANAGE = ['manage'] as const
const PUBLISH = ['publish'] as const
const SMS = ['sms'] as const
const CONSUME = ['consume', 'manage'] as const

function topic(action: string, parameter = 'TopicArn'): Find {
  return ({ [parameter]: given }, call) =>
    given === undefined ? [] : [{ action: `SNS:${action}`, arn: checkTopicArn(given, call, parameter) }]
}

/** The topic of the subscription that is named. */
function subscription(action: string): Find {
  return ({ SubscriptionArn: given }, call) =>
    given === undefined
      ? []
      : [{ action: `SNS:${action}`, arn: withoutSubscription(checkSubscriptionArn(given, call).arn) }]
}

function queue(action: string): Find {
  return (input, call, settings) => [{ action: `SQS:${action}`, arn: queueArnOf(settings, input, call) }]
}

function queueIn(action: string, parameter: 'SourceArn' | 'DestinationArn'): Find {
  return ({ [parameter]: given }) =>
    given === undefined ? [] : sqsTarget(action, checkQueueArn(given, parameter))
}

function sqsTarget(action: string, arn: unknown): Target[] {
  return parseArn(String(arn))?.service === 'sqs' ? [{ action: `SQS:${action}`, arn: String(arn) }] : []
}

function all(...finds: Find[]): Find {
  return (input, call, settings) => finds.flatMap((find) => find(input, call, settings))
}

/** A caller who sets a dead-letter queue must be allowed to send to it. */
const deadLetters: Find = ({ Attributes, AttributeName, AttributeValue }) => {
  const given = {
    ...(Attributes as Record<string, unknown> | undefined),
    [String(AttributeName)]: AttributeValue,
  }
  if (typeof given.RedrivePolicy !== 'string') return []
  // The operation itself refuses a text that is not the JSON of an object.
  return sqsTarget('SendMessage', objectOf(given.RedrivePolicy)?.deadLetterTargetArn)
}

const subscribing: Find = (input, call, settings) => {
  const address = { protocol: String(input.Protocol), endpoint: String(input.Endpoint) }
  return [
    ...topic('Subscribe')(input, call, settings).map(({ arn }) => subscribedTo(arn, address)),
    ...subscribed(input, call),
    ...deadLetters(input, call, settings),
  ]
}

function subscribed({ Protocol: protocol, Endpoint }: AwsInput, { account }: AwsCall): Target[] {
  const endpoint = String(Endpoint)
  if (!isProtocol(protocol)) return []
  // A queue of another account must confirm, so no right is needed here.
  if (PROTOCOL_TRAITS[protocol].isQueue && parseArn(endpoint)?.account !== account) return []
  return endpointTargets({ protocol, endpoint })
}

/** The target of a direct message, or the topic. */
const publishing: Find = (input, call, settings) => [
  ...topic('Publish')(input, call, settings),
  ...(isOfEndpoint(String(input.TargetArn)) ? [] : topic('Publish', 'TargetArn')(input, call, settings)),
  ...directTargets(input),
]

const newTopic: Find = ({ Name }, { account, region }, { arn }) => [
  { action: 'SNS:CreateTopic', arn: topicArn(String(Name), { ...arn, account, region }) },
]
const newQueue: Find = ({ QueueName }, { account, region }, { arn }) => [
  { action: 'SQS:CreateQueue', arn: queueArn(String(QueueName), { ...arn, account, region }) },
]
const queueByName: Find = ({ QueueName, QueueOwnerAWSAccountId }, { account, region }, { arn }) => {
  const place = { ...arn, account: String(QueueOwnerAWSAccountId ?? account), region }
  return [{ action: 'SQS:GetQueueUrl', arn: queueArn(String(QueueName), place) }]
}
const moveTask: Find = ({ TaskHandle }) =>
  sqsTarget('CancelMessageMoveTask', parseTaskHandle(String(TaskHandle))?.sourceArn)

/** The application that a parameter names, also by one of its endpoints. */
function application(action: string): Find {
  return ({ PlatformApplicationArn: given, EndpointArn }) => {
    const own = given === undefined ? undefined : checkApplicationForm(given).arn
    const endpoint = EndpointArn === undefined ? undefined : checkEndpointForm(EndpointArn)
    const arn = own ?? parsePlatformEndpointArn(endpoint ?? '')?.application
    return arn === undefined ? [] : [{ action: `SNS:${action}`, arn }]
  }
}

const newApplication: Find = ({ Platform, Name }, { account, region }, { arn }) => [
  {
    action: 'SNS:CreatePlatformApplication',
    arn: platformApplicationArn(String(Platform), String(Name), { ...arn, account, region }),
  },
]

/** A caller who names the topic of an event must be allowed to publish to it. */
const eventTopics: Find = ({ Attributes }) =>
  eventTopicsIn({ ...(Attributes as Record<string, string> | undefined) }).map((arn) => ({
    action: 'SNS:Publish',
    arn,
  }))

/** Without a destination, messages go back to their sources. */
async function origins({ SourceArn, DestinationArn }: AwsInput, deps: ApiDeps): Promise<Target[]> {
  const given = DestinationArn === undefined ? sqsTarget('StartMessageMoveTask', SourceArn) : []
  return (await Promise.all(given.map(({ arn }) => originsOf(deps, arn)))).flat()
}

const confirming: Find = ({ Token, TopicArn }, call) => {
  if (Token !== undefined) checkConfirmedTopic(TopicArn, call)
  return []
}

/**
 * The right is checked on the subscription's own topic, not on the topic in the request (checklist 63). A caller
 * without the right gets the same answer as for an unknown token.
 */
async function confirmed({ Token }: AwsInput, { subscriptions }: ApiDeps): Promise<Target[]> {
  const record = typeof Token === 'string' ? await subscriptions.findByToken(Token) : null
  const hidden = { error: invalidParameter('Token') }
  return record ? [{ action: 'SNS:ConfirmSubscription', arn: record.topicArn, byName: true, hidden }] : []
}

const ofSms: AwsRule = { need: SMS, wholeServer: true }
const changingSms: AwsRule = { ...ofSms, change: true }
const reading = (targets: Find): AwsRule => ({ need: READ, targets })
const managing = (targets: Find): AwsRule => ({ need: MANAGE, change: true, targets })
const ofTopic = (name: string) => managing(topic(name))
const ofQueue = (name: string) => managing(queue(name))
const ofApplication = (name: string) => managing(application(name))
const byApplicationArn = (item: unknown) => {
  const arn = String((item as Record<string, unknown>).PlatformApplicationArn)
  return arn.slice(arn.lastIndexOf('/') + 1)
}
const byTopicArn = (item: unknown) => nameOfArn(String((item as Record<string, unknown>).TopicArn))
const byUrl = (item: unknown) => String(item).slice(String(item).lastIndexOf('/') + 1)

const RULES: Record<string, AwsRule> = {
  'sns:CreateTopic': managing(newTopic),
  'sns:DeleteTopic': ofTopic('DeleteTopic'),
  'sns:ListTopics': { need: READ, list: { member: 'Topics', nameOf: byTopicArn } },
  'sns:GetTopicAttributes': reading(topic('GetTopicAttributes')),
  'sns:SetTopicAttributes': ofTopic('SetTopicAttributes'),
  'sns:AddPermission': ofTopic('AddPermission'),
  'sns:RemovePermission': ofTopic('RemovePermission'),
  'sns:TagResource': managing(topic('TagResource', 'ResourceArn')),
  'sns:UntagResource': managing(topic('UntagResource', 'ResourceArn')),
  'sns:ListTagsForResource': reading(topic('ListTagsForResource', 'ResourceArn')),
  'sns:GetDataProtectionPolicy': reading(topic('GetDataProtectionPolicy', 'ResourceArn')),
  'sns:PutDataProtectionPolicy': managing(topic('PutDataProtectionPolicy', 'ResourceArn')),
  'sns:Publish': { need: PUBLISH, targets: publishing },
  'sns:PublishBatch': { need: PUBLISH, targets: topic('Publish') },
  'sns:Subscribe': managing(subscribing),
  'sns:ConfirmSubscription': { need: MANAGE, change: true, targets: confirming, further: confirmed },
  'sns:Unsubscribe': managing(subscription('Unsubscribe')),
  'sns:GetSubscriptionAttributes': reading(subscription('GetSubscriptionAttributes')),
  'sns:SetSubscriptionAttributes': managing(all(subscription('SetSubscriptionAttributes'), deadLetters)),
  'sns:ListSubscriptions': { need: READ, list: { member: 'Subscriptions', nameOf: byTopicArn } },
  'sns:ListSubscriptionsByTopic': reading(topic('ListSubscriptionsByTopic')),
  'sns:GetSMSAttributes': ofSms,
  'sns:SetSMSAttributes': changingSms,
  'sns:CheckIfPhoneNumberIsOptedOut': ofSms,
  'sns:ListPhoneNumbersOptedOut': ofSms,
  'sns:OptInPhoneNumber': changingSms,
  'sns:GetSMSSandboxAccountStatus': ofSms,
  'sns:CreateSMSSandboxPhoneNumber': changingSms,
  'sns:VerifySMSSandboxPhoneNumber': changingSms,
  'sns:DeleteSMSSandboxPhoneNumber': changingSms,
  'sns:ListSMSSandboxPhoneNumbers': ofSms,
  'sns:ListOriginationNumbers': ofSms,

  'sns:CreatePlatformApplication': managing(all(newApplication, eventTopics)),
  'sns:GetPlatformApplicationAttributes': reading(application('GetPlatformApplicationAttributes')),
  'sns:SetPlatformApplicationAttributes': managing(
    all(application('SetPlatformApplicationAttributes'), eventTopics),
  ),
  'sns:ListPlatformApplications': {
    need: READ,
    list: { member: 'PlatformApplications', nameOf: byApplicationArn },
  },
  'sns:DeletePlatformApplication': ofApplication('DeletePlatformApplication'),
  'sns:CreatePlatformEndpoint': ofApplication('CreatePlatformEndpoint'),
  'sns:GetEndpointAttributes': reading(application('GetEndpointAttributes')),
  'sns:SetEndpointAttributes': ofApplication('SetEndpointAttributes'),
  'sns:ListEndpointsByPlatformApplication': reading(application('ListEndpointsByPlatformApplication')),
  'sns:DeleteEndpoint': ofApplication('DeleteEndpoint'),

  'sts:GetCallerIdentity': { need: KEY_SCOPES },

  'sqs:CreateQueue': managing(all(newQueue, deadLetters)),
  'sqs:GetQueueUrl': { need: ['read', 'publish', 'consume', 'manage'], targets: queueByName },
  'sqs:ListQueues': { need: READ, list: { member: 'QueueUrls', nameOf: byUrl } },
  'sqs:DeleteQueue': ofQueue('DeleteQueue'),
  'sqs:PurgeQueue': ofQueue('PurgeQueue'),
  'sqs:ListDeadLetterSourceQueues': {
    ...reading(queue('ListDeadLetterSourceQueues')),
    list: { member: 'queueUrls', nameOf: byUrl },
  },
  'sqs:GetQueueAttributes': reading(queue('GetQueueAttributes')),
  'sqs:SetQueueAttributes': managing(all(queue('SetQueueAttributes'), deadLetters)),
  'sqs:TagQueue': ofQueue('TagQueue'),
  'sqs:UntagQueue': ofQueue('UntagQueue'),
  'sqs:ListQueueTags': reading(queue('ListQueueTags')),
  'sqs:AddPermission': ofQueue('AddPermission'),
  'sqs:RemovePermission': ofQueue('RemovePermission'),
  'sqs:StartMessageMoveTask': {
    need: ['redrive'],
    change: true,
    targets: all(queueIn('StartMessageMoveTask', 'SourceArn'), queueIn('SendMessage', 'DestinationArn')),
    further: origins,
  },
  'sqs:ListMessageMoveTasks': {
    need: ['read', 'redrive'],
    targets: queueIn('ListMessageMoveTasks', 'SourceArn'),
  },
  'sqs:CancelMessageMoveTask': { need: ['redrive'], change: true, targets: moveTask },
  'sqs:SendMessage': { need: PUBLISH, targets: queue('SendMessage') },
  'sqs:SendMessageBatch': { need: PUBLISH, targets: queue('SendMessage') },
  'sqs:ReceiveMessage': { need: CONSUME, targets: queue('ReceiveMessage') },
  'sqs:DeleteMessage': { need: CONSUME, targets: queue('DeleteMessage') },
  'sqs:DeleteMessageBatch': { need: CONSUME, targets: queue('DeleteMessage') },
  'sqs:ChangeMessageVisibility': { need: CONSUME, targets: queue('ChangeMessageVisibility') },
  'sqs:ChangeMessageVisibilityBatch': { need: CONSUME, targets: queue('ChangeMessageVisibility') },
}

/** Throws if the operation has no rule. */
export function awsRuleOf(service: AwsService, operation: string): AwsRule {
  const rule = Object.hasOwn(RULES, `${service}:${operation}`) ? RULES[`${service}:${operation}`] : undefined
  if (rule) return rule
  throw new Error(`aws/aws-rules.ts has no rule for ${service}:${operation}`)
}
