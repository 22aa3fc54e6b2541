/** Changing a subscription's settings and status, and deleting it. */
import { FantailError, type SubscriptionRecord, type SubscriptionStatus } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import { invalid, notFound } from '../http/errors.ts'
import { filterProblems } from './filters.ts'
import { orderingProblems, policyProblems, type SubscriptionSettings } from './settings.ts'

/** The subscription that the API shows under this id; `not_found`. */
export async function visibleSubscription(deps: ApiDeps, id: string): Promise<SubscriptionRecord> {
  const record = await deps.subscriptions.get(id)
  if (!record || record.unsubscribed) throw notFound('subscription')
  return record
}

/** Sets the members given; `not_found`, `validation_failed` where they do not go together with those that stay. */
export async function changeSettings(
  deps: ApiDeps,
  id: string,
  given: Partial<SubscriptionSettings>,
): Promise<SubscriptionRecord> {
  const { queues } = deps
  const before = await visibleSubscription(deps, id)
  // The index names the new queue before the policy does and the old one until after: it may name too much, never too little.
  const next = given.redrivePolicy?.deadLetterTargetArn
  if (next !== undefined) await queues.addSource(next, before.arn)
  let old: string | undefined
  const record = await deps.subscriptions.update(id, (current) => {
    if (current.unsubscribed) throw notFound('subscription')
    refuseMixture(deps, { ...current, ...given })
    old = current.redrivePolicy?.deadLetterTargetArn
    return given
  })
  const kept = record.redrivePolicy?.deadLetterTargetArn
  if (old !== undefined && old !== kept) await queues.removeSource(old, record.arn)
  return record
}

function refuseMixture({ settings }: ApiDeps, record: SubscriptionRecord): void {
  const { protocol, rawMessageDelivery: raw, deliveryPolicy } = record
  const problems = [
    ...policyProblems(deliveryPolicy, { protocol, raw, settings }),
    ...orderingProblems(record),
    ...filterProblems(record),
  ]
  if (problems.length > 0) throw invalid(problems)
}

/** Pauses or resumes; again is the same; `wrong_state` for one that awaits its confirmation. */
export async function changeStatus(
  deps: ApiDeps,
  id: string,
  status: Exclude<SubscriptionStatus, 'pending'>,
): Promise<SubscriptionRecord> {
  return deps.subscriptions.update(id, (current) => {
    if (current.unsubscribed) throw notFound('subscription')
    if (current.status === 'pending') throw new FantailError('wrong_state', 'it awaits its confirmation')
    return { status }
  })
}

/** Removes the subscription; also when already gone. */
export async function deleteSubscription(deps: ApiDeps, id: string): Promise<void> {
  const record = await deps.subscriptions.get(id)
  await deps.subscriptions.delete(id)
  if (record?.redrivePolicy)
    await deps.queues.removeSource(record.redrivePolicy.deadLetterTargetArn, record.arn)
}
