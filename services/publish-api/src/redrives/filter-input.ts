/** A filter of dead letters as the store reads it, and the subscription that such a filter names. */
import {
  FantailError,
  parseArn,
  type RedriveFilter,
  resolveSubscription,
  resolveTopic,
} from '@fantail/contracts'
import type { RedriveInput } from '@fantail/contracts/schemas/queues/redrive-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'

type Tools = Pick<ApiDeps, 'settings' | 'subscriptions'>

type FilterInput = NonNullable<z.output<typeof RedriveInput>['filter']>

/** `within`: where the filter's members are in the request, with a dot at the end. */
export async function letterFilterOf(
  deps: Tools,
  filter: FilterInput,
  within = 'filter.',
): Promise<RedriveFilter> {
  const { subscription, topic, since, until, ...same } = filter
  const given = Object.entries(same).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    ...(subscription !== undefined && {
      subscription: await subscriptionArnOf(deps, subscription, `${within}subscription`),
    }),
    ...(topic !== undefined && { topic: resolveTopic(topic, deps.settings.arn, `${within}topic`) }),
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  }
}

/**
 * The ARN under which dead letters name a subscription, from its id or ARN. An ARN also works for a deleted
 * subscription. An id needs the subscription's record. Throws `validation_failed` if there is none.
 */
async function subscriptionArnOf(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  idOrArn: string,
  path = 'subscription',
): Promise<string> {
  if (parseArn(idOrArn)?.subscriptionId !== undefined) return idOrArn
  const record = await subscriptions.get(subscriptionIdIn(idOrArn, path))
  if (record) return record.arn
  throw unknownSubscription(path)
}

/** `path`: the member of the request that names the subscription. */
export function unknownSubscription(path: string): FantailError {
  return FantailError.invalid(path, 'names no subscription; a deleted one can be named by its ARN')
}

/** Throws `validation_failed` unless the text is an id or ARN. */
export function subscriptionIdIn(idOrArn: string, path: string): string {
  try {
    return resolveSubscription(idOrArn)
  } catch (error) {
    throw new FantailError('validation_failed', `${path} must be a subscription’s id or ARN`, {
      details: [{ path, message: 'must be a subscription’s id or ARN' }],
      cause: error,
    })
  }
}
