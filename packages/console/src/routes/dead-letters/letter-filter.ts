/** The filter that chooses dead letters. The address contains it, so every action on the page uses the same filter. */
import type { DeadLetterCounts } from '@fantail/client/api'
import { nameOf } from '../../parts/formats.ts'

const REASONS = ['permanent', 'retriesExhausted', 'expired', 'outcomeUnknown', 'setAside'] as const
const NONE = 'none' as const

export interface LetterFilter {
  reason?: (typeof REASONS)[number] | undefined
  statusCode?: number | typeof NONE | undefined
  subscription?: string | undefined
  topic?: string | undefined
  error?: string | undefined
  since?: string | undefined
}

type Search = { [name in keyof LetterFilter]?: string }

export function readFilter({ statusCode: status = '', ...search }: Search): LetterFilter {
  const reason = REASONS.find((name) => name === search.reason)
  const statusCode = status === NONE ? NONE : /^\d{3}$/.test(status) ? Number(status) : undefined
  const since = Number.isNaN(Date.parse(search.since ?? '')) ? undefined : search.since
  return { ...search, reason, statusCode, since }
}

/**
 * `reason retriesExhausted, statusCode 503`; empty: everything. The groups name the subscription. Letters with a status
 * have no error and the other way round, so only what they have is said.
 */
export function describeFilter(filter: LetterFilter, groups: readonly LetterGroup[] = []): string {
  const { subscription, topic } = filter
  const named = {
    ...filter,
    topic: topic && nameOf(topic),
    subscription: subscription && subscriptionNameIn(groups, subscription),
  }
  const isSaid = ([, value]: readonly [string, unknown]) => value !== NONE
  const said = givenIn(named).filter(isSaid)
  return (said.length === 0 ? givenIn(named) : said).map(([name, value]) => `${name} ${value}`).join(', ')
}

/** The id of the subscription if it is gone. */
function subscriptionNameIn(groups: readonly LetterGroup[], arn: string): string {
  return groups.find(({ subscription }) => subscription === arn)?.subscriptionName ?? nameOf(arn)
}

export function isEmptyFilter(filter: LetterFilter): boolean {
  return givenIn(filter).length === 0
}

const MEMBERS = ['reason', 'statusCode', 'error', 'subscription', 'topic', 'since'] as const

function givenIn(filter: LetterFilter) {
  return MEMBERS.map((name) => [name, filter[name]] as const).filter(([, value]) => value !== undefined)
}

export type LetterGroup = NonNullable<DeadLetterCounts['groups']>[number]

/** By cause, so that one click chooses a cause for all subscriptions. Within a cause, or of a subscription, by both. */
export function groupByOf({ reason, subscription }: LetterFilter): string {
  const isNarrow = reason !== undefined || subscription !== undefined
  return isNarrow ? 'reason,statusCode,error,subscription' : 'reason,statusCode,error'
}

/** The filter that matches exactly this group, within the earlier filter. */
export function filterOfGroup(filter: LetterFilter, group: LetterGroup): LetterFilter {
  const { reason, statusCode, error, subscription } = group
  return { ...filter, reason, statusCode: statusCode ?? NONE, error: error ?? NONE, subscription }
}

export function isOfGroup(filter: LetterFilter, group: LetterGroup): boolean {
  const chosen = filterOfGroup(filter, group)
  return describeFilter(filter) === describeFilter({ ...filter, ...chosen })
}
