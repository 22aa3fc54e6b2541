/** An entry of the quarantine: reason, time, raw bytes, and its owner if that can be read. */
import type { QuarantineReason } from '@fantail/contracts'

/**
 * Text that explains an entry of the quarantine. Past it: the text is cut. The detail may contain the text of an error,
 * which may have any length.
 */
const ENTRY_DETAIL_CHARS_MAX = 500
/**
 * Message ids by which one entry can be looked up. Past it: further ones are left out. A job has fewer messages than
 * this.
 */
const IDS_MAX = 10_000
const MESSAGE_ID_IN = /"messageId":"([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})"/g
const TOPIC_ARN_IN = /"topicArn":"(arn:[^"\\]{1,2048})"/g

export interface NewEntry {
  /** Derived from its source, so that a repeated try adds nothing. */
  id: string
  reason: QuarantineReason
  /** One sentence for the operator. */
  detail: string
  /** If these three are known, they are given here, and not read from `raw`. */
  messageId?: string | undefined
  topicArn?: string | undefined
  subscriptionId?: string | undefined
  /** The unreadable bytes, unchanged; empty if nothing is left. */
  raw: Buffer | string
}

export interface QuarantineEntry {
  id: string
  reason: QuarantineReason
  detail: string
  /** Redis's time, epoch ms. */
  quarantinedAt: number
  messageId: string | null
  topicArn: string | null
  subscriptionId: string | null
  rawBytes: number
}

export const SUMMARY_FIELDS = ['reason', 'detail', 'at', 'messageId', 'topicArn', 'subscriptionId'] as const

/** Ids of the messages that the entry is about, if they can be read. */
export function messageIdsIn({ messageId, raw }: NewEntry): string[] {
  if (messageId !== undefined) return [messageId]
  const found = new Set<string>()
  for (const [, id] of String(raw).matchAll(MESSAGE_ID_IN)) {
    if (id && found.size < IDS_MAX) found.add(id)
  }
  return [...found]
}

/** Names and values of the entry's hash. */
export function packEntry(entry: NewEntry, messageIds: string[]): (string | Buffer)[] {
  const { reason, detail, subscriptionId, raw } = entry
  const topicArn = entry.topicArn ?? onlyTopicIn(raw)
  const messageId = messageIds.length === 1 ? messageIds[0] : undefined
  const fields = {
    reason,
    detail: detail.slice(0, ENTRY_DETAIL_CHARS_MAX),
    messageId,
    topicArn,
    subscriptionId,
  }
  const known = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name, value]))
  return [...known, 'messageIds', JSON.stringify(messageIds), 'raw', raw]
}

/** The topic of data that cannot be decoded. undefined: the data names no topic, or several. */
function onlyTopicIn(raw: Buffer | string): string | undefined {
  const arns = new Set([...String(raw).matchAll(TOPIC_ARN_IN)].map(([, arn]) => arn))
  return arns.size === 1 ? [...arns][0] : undefined
}

export function readEntryFields(
  id: string,
  fields: (string | null)[],
  rawBytes: number,
): QuarantineEntry | undefined {
  const [reason, detail, at, messageId = null, topicArn = null, subscriptionId = null] = fields
  if (!reason) return undefined
  return {
    id,
    reason: reason as QuarantineReason,
    detail: detail ?? '',
    quarantinedAt: Number(at),
    messageId,
    topicArn,
    subscriptionId,
    rawBytes,
  }
}
