/** The supported operations of Amazon SNS, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { publishOperations } from './publish/publish-operations.ts'
import { applicationOperations } from './push/application-operations.ts'
import { endpointOperations } from './push/endpoint-operations.ts'
import { sandboxOperations } from './sms/sandbox-operations.ts'
import { smsOperations } from './sms/sms-operations.ts'
import { confirmSubscriptionOperation } from './subscriptions/confirm-subscription.ts'
import { listSubscriptionsOperations } from './subscriptions/list-subscriptions.ts'
import { subscribeOperation } from './subscriptions/subscribe-operation.ts'
import { subscriptionAttributeOperations } from './subscriptions/subscription-operations.ts'
import { unsubscribeOperation } from './subscriptions/unsubscribe.ts'
import { topicAttributeOperations } from './topics/topic-attribute-operations.ts'
import { topicOperations } from './topics/topic-operations.ts'
import { permissionOperations } from './topics/topic-permissions.ts'
import { tagOperations } from './topics/topic-tags.ts'

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
    ...applicationOperations(deps),
    ...endpointOperations(deps),
    ...smsOperations(deps),
    ...sandboxOperations(deps),
  ]
}
