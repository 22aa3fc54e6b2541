/** Grouped dead letters in the form of the REST API. */
import type { DeadLetterReason } from '@fantail/contracts'
import type {
  DeadLetterCounts,
  LetterGroupMember,
} from '@fantail/contracts/schemas/queues/letter-group-schemas'
import type { GroupedLetters, LetterGroup } from '@fantail/store'
import type { z } from 'zod'
import { iso, isoOrNull } from '../http/record-views.ts'
import type { SubscriptionNames } from './subscription-names.ts'

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
