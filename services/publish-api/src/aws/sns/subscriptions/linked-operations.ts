/** Operations that a message may also link to: ConfirmSubscription and Unsubscribe. */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { parseArn, type SubscriptionRecord, subscriptionArn } from '@fantail/contracts'
import { isUnsubscribeToken } from '@fantail/delivery'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { deleteSubscription } from '../../../subscriptions/change.ts'
import {
  type Authentication,
  confirm,
  gone,
  unsubscribeByLink,
} from '../../../subscriptions/confirmations.ts'
import {
  checkSubscriptionArn,
  invalidParameter,
  missingParameter,
  notAuthorized,
  unprefixed,
} from '../wire/sns-parameters.ts'

/**
 * ConfirmSubscription (checklist 57 to 63), by the API or by the link in a message. The token alone identifies the
 * subscription. The topic's ARN only needs the right region.
 */
export function confirmSubscriptionOperation(deps: ApiDeps): Operation {
  return {
    name: 'ConfirmSubscription',
    input: { TopicArn: 'string', Token: 'string', AuthenticateOnUnsubscribe: 'string' },
    output: { SubscriptionArn: 'string' },
    run: async (input, call) => {
      const { arn, topicArn } = await confirmSubscription(deps, input, call)
      deps.topicCache.forget(topicArn)
      deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.confirmed')
      return { SubscriptionArn: arn }
    },
  }
}

async function confirmSubscription(
  deps: ApiDeps,
  input: AwsInput,
  call: AwsCall,
): Promise<SubscriptionRecord> {
  if (input.Token === undefined) throw missingParameter('Token')
  const token = String(input.Token)
  const topicRegion = checkConfirmedTopic(input.TopicArn, call)
  const record = await deps.subscriptions.findByToken(token)
  // A link is not signed, so the region for which it was made is only known from its subscription.
  const region = call.signed ? call.region : (parseArn(record?.arn ?? '')?.region ?? call.region)
  if (topicRegion !== region) throw invalidParameter('Topic')
  if (call.signed && !HEX.test(token)) throw unprefixed('Invalid token')
  const confirmed = record && (await confirm(deps, record, token, authenticationOf(input, call)).catch(gone))
  if (!confirmed) throw invalidParameter('Token')
  return confirmed
}

/** Checks the topic's ARN, and returns its region. Only a link may be of another region than the call. */
export function checkConfirmedTopic(given: unknown, call: AwsCall): string {
  const topic = parseArn(String(given ?? ''))
  if (topic?.service !== 'sns' || topic.subscriptionId !== undefined) throw invalidParameter('Topic')
  if (call.signed && topic.region !== call.region) throw invalidParameter('Topic')
  return topic.region
}

const HEX = /^[0-9a-f]+$/i

/** Only a signed call can require that unsubscribing is signed too. */
function authenticationOf({ AuthenticateOnUnsubscribe }: AwsInput, { signed }: AwsCall): Authentication {
  if (!signed) return {}
  const authenticate = String(AuthenticateOnUnsubscribe).toLowerCase() === 'true'
  return {
    confirmationWasAuthenticated: true,
    ...(authenticate && { authenticateOnUnsubscribe: true as const }),
  }
}

/**
 * Unsubscribe (checklist 74 to 76, 144, 145). A signed call deletes the subscription. An unsigned call is a link. The
 * endpoint is then asked whether that was meant, and can undo it. If keys are required, a link must have the token that
 * only deliveries contain, because ids of subscriptions are no secret.
 */
export function unsubscribeOperation(deps: ApiDeps): Operation {
  return {
    name: 'Unsubscribe',
    input: { SubscriptionArn: 'string', Token: 'string' },
    output: null,
    run: async ({ SubscriptionArn, Token }, call) => {
      const { arn, id, account } = checkSubscriptionArn(SubscriptionArn, call)
      if (call.signed && account !== call.account) throw notAllowed(call, arn)
      const isProven = call.signed || !needsToken(deps) || (await isToken(deps, { token: Token, arn }))
      // Refused before the subscription is looked up, so that the answer does not show whether it exists.
      if (!isProven && !deps.settings.unsignedUnsubscribe) throw notAllowed(call, arn)
      const record = await (call.signed ? deps.subscriptions.getReadable(id) : deps.subscriptions.get(id))
      // SNS's own link, which its owner allows for SNS's own subscriptions. Others never had such a link.
      if (!isProven && record?.origin === 'native') throw notAllowed(call, arn)
      // Succeeds also if the subscription is gone already, because the caller cannot know that.
      const topicArn = (await deps.subscriptions.locate(id))?.topicArn
      if (topicArn === undefined || subscriptionArn(topicArn, id) !== arn || record?.unsubscribed)
        return undefined
      // An owner deletes a subscription also if its record cannot be read.
      if (call.signed) await deleteSubscription(deps, id)
      else if (record) await unsubscribe(deps, record, call)
      deps.topicCache.forget(topicArn)
      deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.unsubscribed')
      return undefined
    },
  }
}

/** Whether a caller without a key is a stranger. In local mode without keys, everybody may do everything. */
function needsToken({ settings }: Pick<ApiDeps, 'settings'>): boolean {
  return settings.auth || (settings.awsCredentials ?? []).length > 0
}

async function isToken(
  { linkKey }: Pick<ApiDeps, 'linkKey'>,
  { token, arn }: { token: unknown; arn: string },
): Promise<boolean> {
  return typeof token === 'string' && isUnsubscribeToken(token, arn, await linkKey.get())
}

async function unsubscribe(deps: ApiDeps, record: SubscriptionRecord, call: AwsCall): Promise<void> {
  if (record.authenticateOnUnsubscribe) throw notAllowed(call, record.arn)
  await unsubscribeByLink(deps, record, call.origin)
}

function notAllowed({ signed, account }: AwsCall, arn: string) {
  return notAuthorized(signed ? `arn:aws:iam::${account}:root` : 'anonymous', 'SNS:Unsubscribe', arn)
}
