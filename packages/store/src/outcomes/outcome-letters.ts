/**
 * If a dead letter was removed because its queue was full, its delivery has two entries: the end of the delivery, and
 * the removal of its letter. Their order is not fixed, because two workers may write them.
 */
import type { LaneEntry } from './outcome-entries.ts'

const REMOVED = 'deadLetterQuota'

/**
 * Joins both into one entry. The entry of the removal is used, and the other entry adds the values that it does not
 * have.
 */
export function withRemovedLetters(lanes: LaneEntry[]): LaneEntry[] {
  const removed = lanes.filter(({ reason }) => reason === REMOVED)
  if (removed.length === 0) return lanes
  const removals = new Map(removed.map((entry) => [nameOf(entry), entry]))
  const others = lanes.filter(({ reason }) => reason !== REMOVED)
  const merged = others.map((entry) => {
    const removal = entry.outcome === 'deadLettered' ? removals.get(nameOf(entry)) : undefined
    return removal ? goneOf(entry, removal) : entry
  })
  const known = new Set(others.map(nameOf))
  return [...merged, ...removed.filter((entry) => !known.has(nameOf(entry)))]
}

function goneOf(entry: LaneEntry, { outcome, reason, storedAt }: LaneEntry): LaneEntry {
  return { ...entry, outcome, reason, ...(storedAt !== undefined && { storedAt }) }
}

function nameOf({ subscriptionId, generation }: LaneEntry): string {
  return `${subscriptionId} ${generation}`
}
