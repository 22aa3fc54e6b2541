/** The supported operations of Amazon SNS, SQS and STS, one group per file. */
import type { AwsCall, Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../deps/api-deps.ts'
import { applicationOperations } from './sns/mobile-push/application-operations.ts'
import { endpointOperations } from './sns/mobile-push/endpoint-operations.ts'
import { publishOperations } from './sns/publish/publish-operations.ts'
import { sandboxOperations, smsOperations } from './sns/sms/sms-operations.ts'
import { confirmSubscriptionOperation, unsubscribeOperation } from './sns/subscriptions/linked-operations.ts'
import { subscribeOperation } from './sns/subscriptions/subscribe-operation.ts'
import {
  listSubscriptionsOperations,
  subscriptionAttributeOperations,
} from './sns/subscriptions/subscription-operations.ts'
import { topicAttributeOperations } from './sns/topics/topic-attribute-operations.ts'
import { topicOperations } from './sns/topics/topic-operations.ts'
import { topicPermissionOperations } from './sns/topics/topic-permissions.ts'
import { topicTagOperations } from './sns/topics/topic-tags.ts'
import { handleOperations } from './sqs/messages/message-handles.ts'
import { receiveOperation } from './sqs/messages/receive-message.ts'
import { sendOperations } from './sqs/messages/send-message.ts'
import { moveTaskOperations } from './sqs/move-tasks/move-tasks.ts'
import { attributeOperations } from './sqs/queues/queue-attribute-operations.ts'
import { queueOperations } from './sqs/queues/queue-operations.ts'
import { queuePermissionOperations } from './sqs/queues/queue-permissions.ts'
import { queueTagOperations } from './sqs/queues/queue-tags.ts'

export function snsOperations(deps: ApiDeps): Operation[] {
  return [
    ...topicOperations(deps),
    ...topicAttributeOperations(deps),
    ...topicPermissionOperations(deps),
    ...topicTagOperations(deps),
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

export function sqsOperations(deps: ApiDeps): Operation[] {
  return [
    ...queueOperations(deps),
    ...attributeOperations(deps),
    ...queueTagOperations(deps),
    ...queuePermissionOperations(deps),
    ...moveTaskOperations(deps),
    ...sendOperations(deps),
    receiveOperation(deps),
    ...handleOperations(deps),
  ]
}

/** The one supported operation of AWS STS. Clients call it to learn whose key they have, and every key may do so. */
export function stsOperations(): Operation[] {
  return [
    {
      name: 'GetCallerIdentity',
      input: {},
      output: { Arn: 'string', UserId: 'string', Account: 'string' },
      run: async (_input, call) => identityOf(call),
    },
  ]
}

/** The key's user if keys are required, else the root of the account for which the access key stands. */
function identityOf({ principal, account }: AwsCall) {
  if (principal === undefined) {
    return { Arn: `arn:aws:iam::${account}:root`, UserId: account, Account: account }
  }
  return { Arn: principal, UserId: principal.slice(principal.lastIndexOf('/') + 1), Account: account }
}
