/** What differs between kinds of queues. Everything else is the same for all of them. */
import type { QueueMessage } from '@fantail/contracts'
import type { Script, ScriptValue } from '../../redis/scripts.ts'
import type { StoredItem } from '../queue-items.ts'
import type { ReceiveRequest, SendItem } from '../queue-records.ts'

export interface QueueKind {
  /** Place of a message that is sent under this id. `validation_failed` if the kind cannot take it. */
  placeOf(item: SendItem, id: string): Pick<StoredItem, 'groupId' | 'deduplicationId' | 'deduplication'>
  /** What a message keeps that a redrive policy moves from one queue of the kind to another (checklist 177, 178). */
  keptBy(moved: QueueMessage): Pick<StoredItem, 'sentAt' | 'retentionFrom' | 'deduplicationId'>
  /** It takes: number wanted, visibility timeout, bound of messages in flight, proofs, `receiveArgs`, consumer. */
  receiveScript: Script
  /** What the script gets of the secret of a receipt handle. */
  proofOf(secret: Buffer): Buffer[]
  receiveArgs(request: ReceiveRequest, round: number): ScriptValue[]
  /** It holds deduplication ids against each other, so that a send may change nothing. */
  deduplicates: boolean
  /** A receive that is repeated under its attempt's id gets the same messages. */
  repeatsReceives: boolean
}
