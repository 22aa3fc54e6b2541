/** The differences between standard and FIFO queues. */
import type { QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { StoredItem } from '../items/queue-items.ts'
import type { SendItem } from '../items/queue-records.ts'

/** Arguments of a receive for the scripts of all kinds. */
interface ReceiveArgs {
  base: string
  arn: string
  messagesMax: number
  /** null: the queue's own. */
  visibilityMs: number | null
  inFlightMax: number
  /** JSON of a push consumer's receive; '' for any other receive. */
  consumerText: string
}

interface ReceiveTurnArgs {
  /** Secrets of the receipt handles, one for each wanted message. */
  secrets: Buffer[]
  attemptId: string | undefined
  /** A receive may run several scripts. This is the number of the present one, from 1. */
  round: number
}

export interface QueueKind {
  /** How a message with this id is placed. Throws `validation_failed` if the kind refuses it. */
  placeOf(item: SendItem, id: string): Pick<StoredItem, 'groupId' | 'deduplicationId' | 'deduplication'>
  /**
   * The members that a message keeps when a redrive policy moves it between two queues of the kind (checklist 177,
   * 178).
   */
  keptBy(moved: QueueMessage): Pick<StoredItem, 'sentAt' | 'retentionFrom' | 'deduplicationId'>
  /** Runs the script of this kind. Both scripts have replies of the same form. */
  receive(redis: Redis, args: ReceiveArgs, turn: ReceiveTurnArgs): Promise<unknown>
  /** The kind compares deduplication ids, so a send may change nothing. */
  deduplicates: boolean
  /** A receive that is repeated under its attempt id gets the same messages. */
  repeatsReceives: boolean
}
