/**
 * What the links in delivered messages ask for: `GET /?Action=ConfirmSubscription|Unsubscribe` (sns-semantics §2.3, §2.4).
 * Whoever holds a link may follow it, without credentials.
 */
import { type AwsCall, AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { FantailError, isTopicName, parseArn, type SubscriptionRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import { confirm, unsubscribeByLink } from '../subscriptions/confirmations.ts'

const parameter = (message: string) => new AwsError('InvalidParameter', `Invalid parameter: ${message}`)

export function linkOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'ConfirmSubscription',
      input: { TopicArn: 'string', Token: 'string' },
      output: { SubscriptionArn: 'string' },
      run: async (input, { requestId }) => {
        const { arn } = await confirmByLink(deps, input)
        deps.log.info({ requestId, subscriptionArn: arn }, 'subscription.confirmed')
        return { SubscriptionArn: arn }
      },
    },
    {
      name: 'Unsubscribe',
      input: { SubscriptionArn: 'string' },
      output: null,
      run: async ({ SubscriptionArn = '' }, call) => {
        const arn = await unsubscribe(deps, call, String(SubscriptionArn))
        deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.unsubscribed')
        return undefined
      },
    },
  ]
}

async function confirmByLink(deps: ApiDeps, input: AwsInput): Promise<SubscriptionRecord> {
  const topicArn = String(input.TopicArn ?? '')
  const topic = parseArn(topicArn)
  const { region } = deps.settings.arn
  const valid = topic?.service === 'sns' && topic.subscriptionId === undefined && topic.region === region
  if (!valid || !isTopicName(topic.name)) throw parameter('Topic')
  const token = String(input.Token ?? '')
  const record = /^[0-9a-f]+$/.test(token) ? await deps.subscriptions.findByToken(token) : null
  const confirmed = record && (await confirm(deps, record, token).catch(goneMeanwhile))
  if (!confirmed) throw parameter('Token')
  deps.topicCache.forget(confirmed.topicArn)
  return confirmed
}

/** Also when it is gone already: the link's holder cannot know. */
async function unsubscribe(deps: ApiDeps, call: AwsCall, arn: string): Promise<string> {
  const parts = arn.split(':').length
  if (arn === '') throw parameter('SubscriptionArn Reason: no value for required parameter')
  if (parts < 6) throw parameter(`SubscriptionArn Reason: An ARN must have at least 6 elements, not ${parts}`)
  const id = parseArn(arn)?.subscriptionId
  if (id === undefined) throw parameter('SubscriptionId')
  const record = await deps.subscriptions.get(id)
  if (record && record.arn === arn && !record.unsubscribed) {
    await unsubscribeByLink(deps, record, call.origin)
    deps.topicCache.forget(record.topicArn)
  }
  return arn
}

function goneMeanwhile(error: unknown): undefined {
  if (error instanceof FantailError && error.status === 404) return undefined
  throw error
}
