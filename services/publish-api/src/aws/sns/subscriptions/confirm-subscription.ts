/**
 * ConfirmSubscription (checklist 57 to 63), by the API or by the link in a message. The token alone identifies the
 * subscription. The topic's ARN only needs the right region.
 */
import type { AwsCall, AwsInput, Operation } from '@fantail/aws-wire'
import { FantailError, parseArn, type SubscriptionRecord } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { type Authentication, confirm } from '../../../subscriptions/confirmations.ts'
import { invalidParameter, missingParameter, unprefixed } from '../wire/refusals.ts'

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

/** Deleted since it was found. */
function gone(error: unknown): undefined {
  if (error instanceof FantailError && error.code === 'not_found') return undefined
  throw error
}
