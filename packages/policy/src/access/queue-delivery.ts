/**
 * Whether a queue's access policy lets a topic write to it: messages, confirmations and dead letters. A Deny always
 * counts. Within one account nothing else is needed. Across accounts an Allow must cover SNS and the topic, as in AWS.
 * Without that rule the owner of a topic could write into every queue whose ARN is known.
 */
import { parseArn } from '@fantail/contracts'
import { type AccessPolicy, decideAccess } from './access-policy.ts'
import { type DeliveryFacts, keysOfDelivery, SENDING_SERVICE } from './condition-keys.ts'

/** `policy`: the queue's policy. undefined: it has none, or its policy cannot be read. */
export function takesFromTopic(policy: AccessPolicy | undefined, delivery: DeliveryFacts): boolean {
  const topicAccount = parseArn(delivery.topicArn)?.account
  const sameAccount = topicAccount !== undefined && topicAccount === parseArn(delivery.resource)?.account
  if (policy === undefined) return sameAccount
  const decision = decideAccess(policy, {
    service: SENDING_SERVICE,
    action: 'sqs:SendMessage',
    resource: delivery.resource,
    keys: keysOfDelivery(delivery),
  })
  return decision === 'allow' || (decision === 'none' && sameAccount)
}
