/** A filter of dead letters as the store reads it. */
import { type RedriveFilter, resolveTopic } from '@fantail/contracts'
import type { RedriveInput } from '@fantail/contracts/schemas/queues/redrive-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { subscriptionArnOf } from '../subscriptions/arn-of.ts'

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
