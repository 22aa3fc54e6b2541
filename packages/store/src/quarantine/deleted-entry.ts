/** The outcome log's record of an entry that an operator deleted: each message or delivery in it is discarded. */

import type { DispatchEntry } from '../outcomes/dispatch-entry.ts'
import type { LaneEntry } from '../outcomes/outcome-entries.ts'
import type { QuarantineEntry } from './quarantine-entry.ts'

/** Also the cause under which it is counted. */
export const QUARANTINE_DELETED = 'quarantineDeleted'

const NOTHING = Buffer.alloc(0)
/** `delivery.<message id>.<generation>.<subscription id>`, as workers name an entry about one delivery. */
const GENERATION = /^delivery\.[^.]+\.(\d+)\./

/** How often the delivery of an entry was redriven; 0 for all other entries. */
export function generationOf(entryId: string): number {
  return Number(GENERATION.exec(entryId)?.[1] ?? 0)
}

interface DeletedOutcomes {
  dispatch: DispatchEntry[]
  lanes: LaneEntry[]
}

/** `messageIds` are those that the entry is about. */
export function deletedOutcomes(entry: QuarantineEntry, messageIds: string[]): DeletedOutcomes {
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
  // Dispatch has written an entry for a message that reached a lane. A whole message may be known from here alone.
  if (subscriptionId !== null || topicArn === null) return { dispatch: [], lanes }
  const nothing = { delivered: NOTHING, parked: NOTHING, filtered: NOTHING, failures: [], slice: null }
  const dispatch = messageIds.map((messageId) => ({ messageId, topicArn, sizeBytes: rawBytes, ...nothing }))
  return { dispatch, lanes }
}
