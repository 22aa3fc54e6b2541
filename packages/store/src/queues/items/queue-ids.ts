/** Item ids that are derived from a delivery or a move. Sending the same item twice then stores it once. */
import { createHash } from 'node:crypto'
import { formatMessageId } from '@fantail/contracts'

export function deadLetterItemId(subscriptionId: string, delivery: Buffer): string {
  return derivedId(['dead', subscriptionId, delivery])
}

/** The id of a delivery's item in the queue that its subscription delivers to. */
export function deliveryItemId(subscriptionId: string, delivery: Buffer): string {
  return derivedId(['delivery', subscriptionId, delivery])
}

/** The id under which a redrive task moves an item to another queue. */
export function redrivenItemId(taskId: string, itemId: string): string {
  return derivedId(['redriven', taskId, itemId])
}

/** UUID version 8 (RFC 9562 §5.8) of a hash over the parts. */
function derivedId(parts: (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  const bytes = hash.digest()
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return formatMessageId(bytes)
}
