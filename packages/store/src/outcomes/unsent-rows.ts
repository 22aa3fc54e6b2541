/**
 * Rows of a message that is in the quarantine or isolated. Such a message is in no
 * lane and has no entry in the outcome log.
 */
import { shownWhy, whyItEnded } from '@fantail/policy'
import type { IsolatedMessages } from '../quarantine/isolated-messages.ts'
import type { Quarantine } from '../quarantine/quarantine.ts'
import { type DeliveryOutcome, emptyRow } from './outcome-rows.ts'

/** The reason of a message that waits by itself, because starts of its job failed while it was matched. */
const ISOLATED = 'isolated'

export interface UnsentSources {
  quarantine: Pick<Quarantine, 'ofMessage'>
  isolated: Pick<IsolatedMessages, 'of'>
}

export interface Unsent {
  rows: DeliveryOutcome[]
  /** null: it cannot be read. */
  topicArn: string | null
  sizeBytes: number
}

/** null if the message is in neither. */
export async function findUnsent(
  { quarantine, isolated }: UnsentSources,
  messageId: string,
): Promise<Unsent | null> {
  const [entries, alone] = await Promise.all([quarantine.ofMessage(messageId), isolated.of(messageId)])
  const [first] = entries
  if (!first && !alone) return null
  const rows = entries.map(({ subscriptionId, reason, detail }): DeliveryOutcome => {
    const why = shownWhy(whyItEnded('quarantined'))
    return { ...emptyRow(), subscriptionId, state: 'quarantined', lastError: detail, ...why, reason }
  })
  if (!alone) return { rows, topicArn: first?.topicArn ?? null, sizeBytes: first?.rawBytes ?? 0 }
  const { topicArn, sizeBytes, nextAttemptAt } = alone
  const why = shownWhy({ cause: ISOLATED, delayMs: null })
  rows.push({ ...emptyRow(), state: 'waiting', nextAttemptAt, ...why })
  return { rows, topicArn, sizeBytes }
}
