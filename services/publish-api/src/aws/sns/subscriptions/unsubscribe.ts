/**
 * Unsubscribe (checklist 74 to 76, 144, 145). A signed call deletes the subscription. An unsigned call is a link, which
 * everybody who has a message can follow. The endpoint is then asked whether that was meant, and can undo it.
 */
import type { AwsCall, Operation } from '@fantail/aws-wire'
import type { SubscriptionRecord } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps.ts'
import { deleteSubscription } from '../../../subscriptions/change.ts'
import { unsubscribeByLink } from '../../../subscriptions/confirmations.ts'
import { checkSubscriptionArn } from '../arns.ts'
import { notAuthorized } from '../refusals.ts'

export function unsubscribeOperation(deps: ApiDeps): Operation {
  return {
    name: 'Unsubscribe',
    input: { SubscriptionArn: 'string' },
    output: null,
    run: async ({ SubscriptionArn }, call) => {
      const { arn, id, account } = checkSubscriptionArn(SubscriptionArn, call)
      if (call.signed && account !== call.account) throw notAllowed(call, arn)
      const record = await deps.subscriptions.get(id)
      // Succeeds also if the subscription is gone already, because the caller cannot know that.
      if (!record || record.arn !== arn || record.unsubscribed) return undefined
      await unsubscribe(deps, record, call)
      deps.topicCache.forget(record.topicArn)
      deps.log.info({ requestId: call.requestId, subscriptionArn: arn }, 'subscription.unsubscribed')
      return undefined
    },
  }
}

async function unsubscribe(deps: ApiDeps, record: SubscriptionRecord, call: AwsCall): Promise<void> {
  if (call.signed) return deleteSubscription(deps, record.id)
  if (record.authenticateOnUnsubscribe) throw notAllowed(call, record.arn)
  await unsubscribeByLink(deps, record, call.origin)
}

function notAllowed({ signed, account }: AwsCall, arn: string) {
  return notAuthorized(signed ? `arn:aws:iam::${account}:root` : 'anonymous', 'SNS:Unsubscribe', arn)
}
