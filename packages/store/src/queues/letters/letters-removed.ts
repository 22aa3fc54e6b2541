/**
 * Dead letters that were removed because the bytes were used up, in the form in which scripts return them
 * (letter-quota.lua).
 */
import { parseArn, parseMessageId } from '@fantail/contracts'
import { deliveryId } from '../../lanes/records/generations.ts'
import { deadLetterItemId } from '../items/queue-ids.ts'

const VALUES = 4
/** Redrives after which the delivery of a removed letter is still found. Past it: its row stays deadLettered. */
const REDRIVES_KNOWN_MAX = 100

export interface RemovedLetter {
  subscriptionId: string
  /** The delivery whose failure made the letter. */
  delivery: Buffer
  statusCode: number | null
}

export function readRemoved(values: Buffer[]): RemovedLetter[] {
  const letters: RemovedLetter[] = []
  for (let at = 0; at < values.length; at += VALUES) {
    const [id = '', arn = '', messageId = '', status = ''] = values.slice(at, at + VALUES).map(String)
    const subscriptionId = parseArn(arn)?.subscriptionId
    const delivery = subscriptionId && deliveryOf(id, subscriptionId, messageId)
    if (delivery)
      letters.push({ subscriptionId, delivery, statusCode: status === '' ? null : Number(status) })
  }
  return letters
}

/** A letter does not store how often it was redriven, but the delivery follows from the letter's id. */
function deliveryOf(id: string, subscriptionId: string, messageId: string): Buffer | undefined {
  if (!parseMessageId(messageId)) return undefined
  for (let generation = 0; generation <= REDRIVES_KNOWN_MAX; generation++) {
    const delivery = deliveryId(messageId, generation)
    if (deadLetterItemId(subscriptionId, delivery) === id) return delivery
  }
  return undefined
}
