/** The operations of Amazon SNS's API that are served, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps.ts'
import { confirmSubscriptionOperation } from './confirm-subscription.ts'
import { listSubscriptionsOperations } from './list-subscriptions.ts'
import { permissionOperations } from './permissions.ts'
import { publishOperations } from './publish.ts'
import { subscribeOperation } from './subscribe.ts'
import { subscriptionAttributeOperations } from './subscription-operations.ts'
import { topicAttributeOperations } from './topic-attribute-operations.ts'
import { tagOperations } from './topic-tags.ts'
import { topicOperations } from './topics.ts'
import { unsubscribeOperation } from './unsubscribe.ts'

export function snsOperations(deps: ApiDeps): Operation[] {
  return [
    ...topicOperations(deps),
    ...topicAttributeOperations(deps),
    ...permissionOperations(deps),
    ...tagOperations(deps),
    ...publishOperations(deps),
    subscribeOperation(deps),
    confirmSubscriptionOperation(deps),
    unsubscribeOperation(deps),
    ...subscriptionAttributeOperations(deps),
    ...listSubscriptionsOperations(deps),
  ]
}
