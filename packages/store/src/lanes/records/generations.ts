/**
 * A delivery's generation tells its later copies apart. A first delivery has 0, and each redrive adds one. A resend
 * begins at its time, so it is later than every generation before it, and no two resends share a number.
 */
import { formatMessageId, parseMessageId, RESENT_DELIVERY_BYTES } from '@fantail/contracts'

/** Redrives of a resent delivery that can be counted. It leaves 48 bits for the number until the year 2109. */
const RESEND_STEP = 64
/** The highest generation that fits into two bytes. The generations of resends are higher. */
const HIGHEST_REDRIVEN = 65_535
const REDRIVEN_BYTES = 2
const MESSAGE_ID_BYTES = 16
const RESENT_BYTES = RESENT_DELIVERY_BYTES - MESSAGE_ID_BYTES

/** The generation of deliveries that are resent at this time, epoch ms. */
export function resentGeneration(atMs: number): number {
  return atMs * RESEND_STEP
}

/** How often the delivery was brought back from a dead-letter queue, or since it was resent, if that is later. */
export function redrivesOf(generation: number): number {
  return generation > HIGHEST_REDRIVEN ? generation % RESEND_STEP : generation
}

/** When the delivery was resent, epoch ms. null: it was not. */
export function resentAtOf(generation: number): number | null {
  return generation > HIGHEST_REDRIVEN ? Math.floor(generation / RESEND_STEP) : null
}

/**
 * The id of a delivery in a lane: 16 bytes of the message id, and the generation if it is not 0, in 2 bytes or in 6 if
 * it was resent.
 */
export function deliveryId(messageId: string, generation = 0): Buffer {
  const id = parseMessageId(messageId)
  if (id === undefined) throw new TypeError(`not a message id: ${messageId}`)
  if (generation === 0) return id
  const suffix = Buffer.alloc(generation > HIGHEST_REDRIVEN ? RESENT_BYTES : REDRIVEN_BYTES)
  suffix.writeUIntBE(generation, 0, suffix.length)
  return Buffer.concat([id, suffix])
}

export function parseDeliveryId(id: Buffer): { messageId: string; generation: number } {
  return { messageId: formatMessageId(id), generation: deliveryGeneration(id) }
}

/** The generation alone. Unlike `parseDeliveryId`, it makes no text of the message id. */
export function deliveryGeneration(id: Buffer): number {
  const length = id.length - MESSAGE_ID_BYTES
  return length > 0 ? id.readUIntBE(MESSAGE_ID_BYTES, length) : 0
}
