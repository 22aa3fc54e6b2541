/** A filter of dead letters as the store reads it. */
import type { RedriveFilter, RedriveInput } from '@fantail/contracts'
import type { z } from 'zod'
import type { ApiDeps } from '../deps.ts'
import { subscriptionArnOf } from '../subscriptions/arn-of.ts'

type FilterInput = NonNullable<z.output<typeof RedriveInput>['filter']>

/** `path`: the member of the request that names the subscription. */
export async function letterFilterOf(
  deps: ApiDeps,
  filter: FilterInput,
  path = 'filter.subscription',
): Promise<RedriveFilter> {
  const { subscription, statusCode, reason, since, until, messageIds } = filter
  return {
    ...(subscription !== undefined && { subscription: await subscriptionArnOf(deps, subscription, path) }),
    ...(statusCode !== undefined && { statusCode }),
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
    ...(messageIds !== undefined && { messageIds }),
  }
}
