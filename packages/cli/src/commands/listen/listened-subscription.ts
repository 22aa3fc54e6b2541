/** Reads how a subscription gets its messages, for `fantail listen --as`. */
import { type Client, getSubscription, listWebhookKeys } from '@fantail/client/api'
import { traitsOf } from '@fantail/policy'
import { CommandError } from '../../output/exit-codes.ts'
import type { RequestForm } from './forwarded-request.ts'

interface ListenedSubscription {
  topicArn: string
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
  form: Omit<RequestForm, 'headers' | 'secret'>
  isSigned: boolean
  /** Names of headers whose values only the server knows. */
  secretHeaders: string[]
}

const SNS_AGENT = 'Amazon Simple Notification Service Agent'

/** `id`: its id or ARN. */
export async function listenedSubscription(client: Client, id: string): Promise<ListenedSubscription> {
  const path = { id }
  const subscription = await getSubscription({ client, path })
  const { arn, topicArn, protocol, filterPolicy, filterPolicyScope, outbound } = subscription
  if (!traitsOf(protocol)?.takes.webhookKeys) {
    throw new CommandError(
      'usage',
      `--as must name a webhook subscription, and ${id} has the protocol ${protocol}`,
    )
  }
  const { webhookKeys } = await listWebhookKeys({ client, path })
  const { headerContentType } = subscription.effectiveDeliveryPolicy.requestPolicy
  return {
    topicArn,
    filterPolicy: filterPolicy ?? undefined,
    filterPolicyScope,
    form: {
      raw: subscription.rawMessageDelivery,
      contentType: headerContentType,
      userAgent: SNS_AGENT,
      subscriptionArn: arn,
    },
    isSigned: webhookKeys.length > 0,
    secretHeaders: outbound?.headers ?? [],
  }
}
