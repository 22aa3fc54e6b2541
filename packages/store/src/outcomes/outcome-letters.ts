/**
 * Deliveries whose dead letter was removed for want of bytes have two entries: how the delivery ended, and that its
 * letter is gone. The two may stand in either order, as two workers may write them.
 */
import type { LaneEntry } from './outcome-entries.ts'

const REMOVED = 'deadLetterQuota'

/** One entry per delivery: what its letter's entry does not know is taken from the delivery's own. */
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
