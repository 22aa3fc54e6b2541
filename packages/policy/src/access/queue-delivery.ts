/**
 * Whether a queue's access policy lets a topic write to it: messages, confirmations and dead letters. A Deny always
 * counts. Within one account nothing else is needed. Across accounts an Allow must cover SNS and the topic, as in AWS.
 * Without that rule the owner of a topic could write into every queue whose ARN is known.
 */
import { parseArn } from '@fantail/contracts'
import { type AccessPolicy, decideAccess } from './access-policy.ts'

interface QueueDelivery {
  queueArn: string
  topicArn: string
}

/** `policy`: the queue's policy. undefined: it has none, or its policy cannot be read. */
export function takesFromTopic(
  policy: AccessPolicy | undefined,
  { queueArn, topicArn }: QueueDelivery,
): boolean {
  const topicAccount = parseArn(topicArn)?.account
  const sameAccount = topicAccount !== undefined && topicAccount === parseArn(queueArn)?.account
  if (policy === undefined) return sameAccount
  const decision = decideAccess(policy, {
    service: 'sns.amazonaws.com',
    action: 'sqs:SendMessage',
    resource: queueArn,
    context: {
      'aws:sourcearn': topicArn,
      'aws:sourceaccount': topicAccount ?? '',
      'aws:securetransport': 'true',
    },
  })
  return decision === 'allow' || (decision === 'none' && sameAccount)
}
