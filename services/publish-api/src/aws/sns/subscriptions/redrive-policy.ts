/** RedrivePolicy of a subscription (checklist 149, 158, 160). */
import { isFifoName, isObject, parseArn, type RedrivePolicy } from '@fantail/contracts'
import { traitsOf } from '@fantail/policy'
import { parseJsonAttribute } from '../wire/json-attribute.ts'
import type { Refuse } from '../wire/refusals.ts'

interface Subscriber {
  topicArn: string
  /** Any of SNS's. */
  protocol: string
  endpoint: string
}

/** null removes the policy. Whether the queue exists is not checked, because in SNS it may be made later. */
export function readRedrivePolicy(
  text: string,
  { topicArn, protocol, endpoint }: Subscriber,
  refuse: Refuse,
): RedrivePolicy | null {
  if (text === '') return null
  const policy = parseJsonAttribute('RedrivePolicy', text, refuse)
  const unknown = isObject(policy) && Object.keys(policy).find((name) => name !== 'deadLetterTargetArn')
  if (unknown) throw refuse(`RedrivePolicy: invalid JSON. Attribute ${unknown} is unknown.`)
  const target = targetOf(policy)
  if (target === undefined) throw refuse('RedrivePolicy: deadLetterTargetArn is an invalid arn')
  const ordered = isFifoName(topicArn)
  if (ordered && traitsOf(protocol)?.isQueue && isFifoName(endpoint) && !isFifoName(target)) {
    throw refuse('RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.')
  }
  if (!ordered && isFifoName(target)) {
    throw refuse('RedrivePolicy: must use a standard queue as DLQ for a subscription to a standard topic.')
  }
  return { deadLetterTargetArn: target }
}

function targetOf(policy: unknown): string | undefined {
  const members = typeof policy === 'object' && policy !== null ? policy : {}
  const { deadLetterTargetArn: target } = members as { deadLetterTargetArn?: unknown }
  return typeof target === 'string' && parseArn(target)?.service === 'sqs' ? target : undefined
}
