/** Entries of the quarantine for messages of a log that cannot be decoded or matched. */
import { type LogClaim, type NewEntry, parseDeliveryId } from '@fantail/store'
import type { UnreadableBody } from '../attempts/lane-bodies.ts'
import type { Unmatchable } from './log-batch.ts'

/** `body` null: it is missing. */
export function unreadableEntry({ topicArn }: LogClaim, id: Buffer, body: UnreadableBody | null): NewEntry {
  const { messageId } = parseDeliveryId(id)
  const entry = { id: `message.${messageId}`, messageId, topicArn }
  if (body === null) return { ...entry, reason: 'bodyMissing', detail: 'its body is missing', raw: '' }
  const detail = `its body cannot be decoded: ${body.message}`
  return { ...entry, reason: 'bodyUnreadable', detail, raw: body.raw }
}

export function unmatchableEntry({ context, error }: Unmatchable): NewEntry {
  const { messageId, topicArn } = context.message
  const detail = `it cannot be matched: ${error instanceof Error ? error.message : String(error)}`
  const entry = { id: `message.${messageId}`, messageId, topicArn, raw: context.body }
  return { ...entry, reason: 'messageUnmatchable', detail }
}
