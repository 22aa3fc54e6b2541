/**
 * A delivery whose dead letter was removed because the bytes were used up has two entries: the end of the delivery, and
 * the removal of its letter. They can be in either order, because two workers may write them.
 */
import type { LaneEntry } from './outcome-entries.ts'

const REMOVED = 'deadLetterQuota'

/**
 * Joins them into one entry per delivery. Values that the entry of the removal lacks come from the delivery's own
 * entry.
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
