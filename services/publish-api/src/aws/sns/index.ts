/** The operations of Amazon SNS's API that are served, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps.ts'
import { confirmSubscriptionOperation } from './confirm-subscription.ts'
import { listSubscriptionsOperations } from './list-subscriptions.ts'
import { publishOperations } from './publish.ts'
import { subscribeOperation } from './subscribe.ts'
import { subscriptionAttributeOperations } from './subscription-operations.ts'
import { unsubscribeOperation } from './unsubscribe.ts'

export function snsOperations(deps: ApiDeps): Operation[] {
  return [
    ...publishOperations(deps),
    subscribeOperation(deps),
    confirmSubscriptionOperation(deps),
    unsubscribeOperation(deps),
    ...subscriptionAttributeOperations(deps),
    ...listSubscriptionsOperations(deps),
  ]
}
