/**
 * Unsubscribe (checklist 74 to 76, 144, 145). A signed call deletes the subscription. An unsigned call is a link. The
 * endpoint is then asked whether that was meant, and can undo it. If keys are required, a link must have the token that
 * only deliveries contain, because ids of subscriptions are no secret.
 */
import type { AwsCall, Operation } from '@fantail/aws-wire'
import type { SubscriptionRecord } from '@fantail/contracts'
import { isUnsubscribeToken } from '@fantail/delivery'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { deleteSubscription } from '../../../subscriptions/change.ts'
import { unsubscribeByLink } from '../../../subscriptions/confirmations.ts'
import { checkSubscriptionArn } from '../wire/arns.ts'
import { notAuthorized } from '../wire/refusals.ts'

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
      const record = await deps.subscriptions.get(id)
      // SNS's own link, which its owner allows for SNS's own subscriptions. Others never had such a link.
      if (!isProven && record?.origin === 'native') throw notAllowed(call, arn)
      // Succeeds also if the subscription is gone already, because the caller cannot know that.
      if (!record || record.arn !== arn || record.unsubscribed) return undefined
      await unsubscribe(deps, record, call)
      deps.topicCache.forget(record.topicArn)
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
  if (call.signed) return deleteSubscription(deps, record.id)
  if (record.authenticateOnUnsubscribe) throw notAllowed(call, record.arn)
  await unsubscribeByLink(deps, record, call.origin)
}

function notAllowed({ signed, account }: AwsCall, arn: string) {
  return notAuthorized(signed ? `arn:aws:iam::${account}:root` : 'anonymous', 'SNS:Unsubscribe', arn)
}
