/** The outcome log's record when an operator deletes an entry. Each message or delivery in the entry is discarded. */
import type { QuarantineEntry } from '../quarantine/quarantine-entry.ts'
import type { DispatchEntry } from './dispatch-entry.ts'
import type { LaneEntry } from './outcome-entries.ts'

/** The cause in the outcome log, and in the counts. */
export const QUARANTINE_DELETED = 'quarantineDeleted'

const NOTHING = Buffer.alloc(0)
/** `delivery.<message id>.<generation>.<subscription id>`: the id of an entry about one delivery. */
const GENERATION = /^delivery\.[^.]+\.(\d+)\./

/** How often the entry's delivery was redriven. 0 for entries that are not about one delivery. */
export function generationOf(entryId: string): number {
  return Number(GENERATION.exec(entryId)?.[1] ?? 0)
}

/**
 * Whether the entry is the end of deliveries. A stored record is none, and the delivery to a queue ended when its
 * message was appended.
 */
export function isOfDeliveries({ reason }: QuarantineEntry): boolean {
  return reason !== 'recordUnreadable' && reason !== 'queueMessageUnreadable'
}

interface DeletedOutcomes {
  dispatch: DispatchEntry[]
  lanes: LaneEntry[]
}

/** `messageIds`: the messages that the entry is about. */
export function deletedOutcomes(entry: QuarantineEntry, messageIds: string[]): DeletedOutcomes {
  if (!isOfDeliveries(entry)) return { dispatch: [], lanes: [] }
  const { id, subscriptionId, topicArn, rawBytes, detail } = entry
  const ended = { outcome: 'discarded', reason: QUARANTINE_DELETED, error: detail } as const
  const lanes = messageIds.map((messageId): LaneEntry => {
    return {
      messageId,
      subscriptionId,
      generation: generationOf(id),
      attempts: 0,
      statusCode: null,
      ...ended,
    }
  })
  // Dispatch has an entry for a message that reached a lane. A whole message may have no other entry than this one.
  if (subscriptionId !== null || topicArn === null) return { dispatch: [], lanes }
  const nothing = {
    delivered: NOTHING,
    parked: NOTHING,
    filtered: NOTHING,
    otherCodes: [],
    failures: [],
    slice: null,
  }
  const dispatch = messageIds.map((messageId) => ({ messageId, topicArn, sizeBytes: rawBytes, ...nothing }))
  return { dispatch, lanes }
}
