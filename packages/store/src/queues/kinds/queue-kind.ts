/** The differences between kinds of queues. Everything else is the same for all. */
import type { QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import type { StoredItem } from '../queue-items.ts'
import type { SendItem } from '../queue-records.ts'

/** Arguments of a receive for the scripts of all kinds. */
interface ReceiveArgs {
  base: string
  arn: string
  messagesMax: number
  /** null: the queue's own. */
  visibilityMs: number | null
  inFlightMax: number
  /** JSON of a push consumer's receive, or ''. */
  consumerText: string
}

interface ReceiveTurnArgs {
  /** Secrets of the receipt handles, one for each wanted message. */
  secrets: Buffer[]
  attemptId: string | undefined
  /** Script of this receive, from 1. */
  round: number
}

export interface QueueKind {
  /** Place of a message that is sent under this id. `validation_failed` if the kind cannot take it. */
  placeOf(item: SendItem, id: string): Pick<StoredItem, 'groupId' | 'deduplicationId' | 'deduplication'>
  /**
   * The fields that a message keeps when a redrive policy moves it between two queues of the kind (checklist 177, 178).
   */
  keptBy(moved: QueueMessage): Pick<StoredItem, 'sentAt' | 'retentionFrom' | 'deduplicationId'>
  /** Runs the kind's script. Both answer alike. */
  receive(redis: Redis, args: ReceiveArgs, turn: ReceiveTurnArgs): Promise<unknown>
  /** It holds deduplication ids against each other, so that a send may change nothing. */
  deduplicates: boolean
  /** A receive that is repeated under its attempt's id gets the same messages. */
  repeatsReceives: boolean
}
