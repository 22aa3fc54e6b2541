/** Grouped dead letters in the form of the REST API. */
import { isVisible } from '@fantail/access'
import { type DeadLetterReason, parseArn, type SubscriptionRecord } from '@fantail/contracts'
import type { DeadLetterCounts, LetterGroupMember } from '@fantail/contracts/schemas/queues/letter-schemas'
import { maskCredentials } from '@fantail/delivery'
import type { GroupedLetters, LetterGroup } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { iso, isoOrNull } from '../http/record-views.ts'

type Counts = z.input<typeof DeadLetterCounts>
type Group = NonNullable<Counts['groups']>[number]

/** `groupBy`: undefined if the caller asked only for counts. */
export function groupedView(
  found: GroupedLetters,
  groupBy: readonly LetterGroupMember[] | undefined,
  names: SubscriptionNames,
): Counts {
  const { counts, matched, scanned, scannedTo, nextCursor, groups, otherGroups, byHour } = found
  return {
    ...counts,
    matched,
    scanned,
    scannedTo: isoOrNull(scannedTo),
    nextCursor,
    ...(groupBy && { groups: groups.map((group) => groupView(group, names)), otherGroups }),
    byHour: [...byHour].map(([at, count]) => ({ at: iso(at), count })),
  }
}

function groupView(
  { values, count, oldestAt, newestAt, samples }: LetterGroup,
  names: SubscriptionNames,
): Group {
  const { reason, statusCode, error, hour, ...arns } = values
  return {
    ...(reason !== undefined && { reason: reason as DeadLetterReason }),
    ...(statusCode !== undefined && { statusCode: statusCode === '' ? null : Number(statusCode) }),
    ...arns,
    ...(arns.subscription !== undefined && { subscriptionName: names.get(arns.subscription) ?? null }),
    ...(error !== undefined && { error: error || null }),
    ...(hour !== undefined && { hour: iso(Number(hour)) }),
    count,
    oldestAt: iso(oldestAt),
    newestAt: iso(newestAt),
    samples,
  }
}

/** ARN of a subscription → its name, or its endpoint if it has no name. */
type SubscriptionNames = ReadonlyMap<string, string>

/**
 * Names of the subscriptions of dead letters, so that a reader needs no request for each of them. `arns`: of the groups
 * of one answer. Subscriptions that are gone or that the caller must not see are missing.
 */
export async function subscriptionNames(
  { subscriptions }: Pick<ApiDeps, 'subscriptions'>,
  caller: Call['caller'],
  arns: readonly string[],
): Promise<SubscriptionNames> {
  const ids = new Set(arns.flatMap((arn) => parseArn(arn)?.subscriptionId ?? []))
  const records = await Promise.all([...ids].map((id) => subscriptions.get(id)))
  const seen = records.filter((record) => record !== null && isVisible(caller, record.topicArn))
  return new Map(seen.flatMap((record) => (record ? [[record.arn, nameOf(record)]] : [])))
}

function nameOf({ name, endpoint }: SubscriptionRecord): string {
  return name ?? maskCredentials(endpoint)
}
