/** Fields of a received queue message besides its body: MD5s (checklist 166) and system attributes. */
import { hash } from 'node:crypto'
import type { MessageAttribute, QueueMessage } from '@fantail/contracts'

const TEXT_VALUE = 1
const BINARY_VALUE = 2

export function md5OfBody(body: string): string {
  return hash('md5', body)
}

/** The MD5 of all given attributes. undefined: there are none. */
export function md5OfAttributes(attributes: Record<string, MessageAttribute>): string | undefined {
  const names = Object.keys(attributes).sort()
  if (names.length === 0) return undefined
  const parts = names.flatMap((name) => attributeParts(name, attributes[name] as MessageAttribute))
  return hash('md5', Buffer.concat(parts))
}

function attributeParts(name: string, { type, value }: MessageAttribute): Buffer[] {
  const binary = type.startsWith('Binary')
  return [
    ...sized(Buffer.from(name)),
    ...sized(Buffer.from(type)),
    Buffer.of(binary ? BINARY_VALUE : TEXT_VALUE),
    ...sized(Buffer.from(value, binary ? 'base64' : 'utf8')),
  ]
}

function sized(bytes: Buffer): [Buffer, Buffer] {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return [size, bytes]
}

type Reader = (message: QueueMessage, owner: string) => string | undefined

/**
 * The readers of system attributes by name. Each returns a text, or undefined if the message does not have the
 * attribute.
 */
const SYSTEM_ATTRIBUTES = new Map<string, Reader>([
  ['SenderId', ({ senderId }, owner) => senderId ?? owner],
  ['SentTimestamp', ({ sentAt }) => String(sentAt)],
  ['ApproximateReceiveCount', ({ receiveCount }) => String(receiveCount)],
  [
    'ApproximateFirstReceiveTimestamp',
    ({ firstReceivedAt }) => (firstReceivedAt === null ? undefined : String(firstReceivedAt)),
  ],
  ['SequenceNumber', ({ sequenceNumber }) => sequenceNumber],
  ['MessageDeduplicationId', ({ deduplicationId }) => deduplicationId],
  ['MessageGroupId', ({ groupId }) => groupId],
  ['AWSTraceHeader', ({ traceHeader }) => traceHeader],
  ['DeadLetterQueueSourceArn', ({ deadLetterSourceArn }) => deadLetterSourceArn],
])

export const SYSTEM_ATTRIBUTE_NAMES: readonly string[] = [...SYSTEM_ATTRIBUTES.keys()]

/** The attributes among `names` that the message has. `owner` is the queue's account. */
export function systemAttributes(
  message: QueueMessage,
  owner: string,
  names: Iterable<string> = SYSTEM_ATTRIBUTE_NAMES,
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of names) {
    const value = SYSTEM_ATTRIBUTES.get(name)?.(message, owner)
    if (value !== undefined) found[name] = value
  }
  return found
}
