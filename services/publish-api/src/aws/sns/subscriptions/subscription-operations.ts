/** Lists subscriptions, and reads and sets their attributes (checklist 113, 140 to 143). */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { FantailError, parseArn, type SubscriptionRecord, topicArn } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import { canBeAsked } from '@fantail/policy'
import type { ListSubscriptions } from '@fantail/store'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { changeSettings } from '../../../subscriptions/change.ts'
import { SETTING_DEFAULTS } from '../../../subscriptions/subscription-settings.ts'
import {
  checkSubscriptionArn,
  checkTopicArn,
  listPage,
  missingParameter,
  noSuchSubscription,
  noSuchTopic,
} from '../wire/sns-parameters.ts'
import { checkReplay, readReplayPolicy, replayAttributes, setReplay } from './replay-policy.ts'
import { readSettings, refuseOnSet } from './subscription-attributes.ts'
import { deliveryPolicyAttributes } from './subscription-delivery-policy.ts'

export function subscriptionAttributeOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'GetSubscriptionAttributes',
      input: { SubscriptionArn: 'string' },
      output: { Attributes: { map: 'string' } },
      run: async (input, call) => ({ Attributes: await getAttributes(deps, input, call) }),
    },
    {
      name: 'SetSubscriptionAttributes',
      input: { SubscriptionArn: 'string', AttributeName: 'string', AttributeValue: 'string' },
      output: null,
      run: (input, call) => setAttribute(deps, input, call),
    },
  ]
}

async function getAttributes(
  deps: ApiDeps,
  { SubscriptionArn }: AwsInput,
  call: AwsCall,
): Promise<Record<string, string>> {
  const record = await namedSubscription(deps, SubscriptionArn, call)
  const topic = await deps.topics.get(record.topicArn)
  if (!topic) throw noSuchSubscription()
  const replay = await replayAttributes(deps, record)
  return { ...attributesOf(record), ...deliveryPolicyAttributes(record, topic), ...replay }
}

function attributesOf(record: SubscriptionRecord): Record<string, string> {
  const owner = parseArn(record.arn)?.account ?? ''
  const { filterPolicy, filterPolicyScope = SETTING_DEFAULTS.filterPolicyScope, redrivePolicy } = record
  // A queue that was not asked to confirm was subscribed by its owner.
  const bySubscribing = !canBeAsked(record.protocol) && record.confirmation === 'none'
  return {
    SubscriptionArn: record.arn,
    TopicArn: record.topicArn,
    Protocol: record.protocol,
    Endpoint: maskCredentials(record.endpoint),
    Owner: owner,
    SubscriptionPrincipal: record.principal ?? `arn:aws:iam::${owner}:root`,
    PendingConfirmation: String(record.status === 'pending'),
    ConfirmationWasAuthenticated: String(bySubscribing || record.confirmationWasAuthenticated === true),
    RawMessageDelivery: String(record.rawMessageDelivery),
    ...(filterPolicy && {
      FilterPolicy: JSON.stringify(filterPolicy),
      FilterPolicyScope: filterPolicyScope,
    }),
    ...(redrivePolicy && { RedrivePolicy: JSON.stringify(redrivePolicy) }),
    ...record.attributes,
  }
}

async function setAttribute(deps: ApiDeps, input: AwsInput, call: AwsCall): Promise<undefined> {
  const record = await namedSubscription(deps, input.SubscriptionArn, call)
  if (input.AttributeName === undefined) throw missingParameter('AttributeName')
  const name = String(input.AttributeName)
  const given = { [name]: String(input.AttributeValue ?? '') }
  if (name === 'ReplayPolicy') return replay(deps, record, String(input.AttributeValue ?? ''), call)
  const rules = { refuse: refuseOnSet, maxRetrySeconds: deps.settings.maxRetrySeconds }
  const settings = readSettings(given, { ...SETTING_DEFAULTS, ...record }, rules)
  await changeSettings(deps, record.id, settings).catch((error) => Promise.reject(orMissing(error)))
  const { requestId } = call
  deps.log.info(
    { requestId, subscriptionId: record.id, members: Object.keys(settings) },
    'subscription.changed',
  )
  deps.withoutEffect.note('subscription', record.arn, given)
  return undefined
}

async function replay(
  deps: ApiDeps,
  record: SubscriptionRecord,
  text: string,
  { requestId }: AwsCall,
): Promise<undefined> {
  const policy = readReplayPolicy(text, record.topicArn, refuseOnSet)
  if (policy && record.status === 'pending')
    throw refuseOnSet('ReplayPolicy: the subscription is not confirmed')
  if (policy) await checkReplay(deps, record.topicArn, refuseOnSet)
  await setReplay(deps, record, policy)
  deps.log.info({ requestId, subscriptionId: record.id, members: ['replay'] }, 'subscription.changed')
}

/** The subscription with exactly this ARN, also a pending one. Throws `NotFound` if there is none. */
async function namedSubscription(deps: ApiDeps, given: unknown, call: AwsCall): Promise<SubscriptionRecord> {
  const { arn, id } = checkSubscriptionArn(given, call)
  const record = await deps.subscriptions.get(id)
  if (!record || record.arn !== arn || record.unsubscribed) throw noSuchSubscription()
  return record
}

function orMissing(error: unknown): unknown {
  return error instanceof FantailError && error.code === 'not_found' ? noSuchSubscription() : error
}

const SUBSCRIPTION = {
  struct: {
    SubscriptionArn: 'string',
    Owner: 'string',
    Protocol: 'string',
    Endpoint: 'string',
    TopicArn: 'string',
  },
} as const
const output = { Subscriptions: { list: SUBSCRIPTION }, NextToken: 'string' } as const

/** ListSubscriptions for the caller's account and region, and ListSubscriptionsByTopic (checklist 113, 140). */
export function listSubscriptionsOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'ListSubscriptions',
      input: { NextToken: 'string' },
      output,
      run: ({ NextToken }, { account, region }: AwsCall) => {
        const { partition } = deps.settings.arn
        return page(deps, { topicPrefix: topicArn('', { partition, account, region }) }, NextToken)
      },
    },
    {
      name: 'ListSubscriptionsByTopic',
      input: { TopicArn: 'string', NextToken: 'string' },
      output,
      run: async ({ TopicArn, NextToken }: AwsInput, call) => {
        const arn = checkTopicArn(TopicArn, call)
        if (!(await deps.topics.get(arn))) throw noSuchTopic()
        return page(deps, { topicArn: arn }, NextToken)
      },
    },
  ]
}

async function page(deps: ApiDeps, which: Partial<ListSubscriptions>, token: unknown) {
  const { items, NextToken } = await listPage(token, (page) => deps.subscriptions.list({ ...which, ...page }))
  return { Subscriptions: items.map(entryOf), NextToken }
}

function entryOf(record: SubscriptionRecord) {
  return {
    SubscriptionArn: record.status === 'pending' ? 'PendingConfirmation' : record.arn,
    Owner: parseArn(record.arn)?.account,
    Protocol: record.protocol,
    Endpoint: maskCredentials(record.endpoint),
    TopicArn: record.topicArn,
  }
}
