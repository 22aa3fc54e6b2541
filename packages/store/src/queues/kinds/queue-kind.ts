/** The differences between standard and FIFO queues. */
import { FantailError, isFifoName, type QueueMessage } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { readScript, runScript } from '../../redis/scripts.ts'
import { bodyDigest, type StoredItem, secretDigest } from '../items/queue-items.ts'
import type { SendItem } from '../items/queue-records.ts'

const RECEIVE_ANY = readScript('receive-messages-1')
const RECEIVE_IN_ORDER = readScript('receive-in-order-1')

/** Arguments of a receive for the scripts of all kinds. */
interface ReceiveArgs {
  base: string
  arn: string
  messagesMax: number
  /** null: the queue's own. */
  visibilityMs: number | null
  inFlightMax: number
  /** JSON of a push consumer's receive; '' for any other receive. */
  pushConsumerText: string
}

interface ReceiveOnceArgs {
  /** Secrets of the receipt handles, one for each wanted message. */
  secrets: Buffer[]
  attemptId: string | undefined
  /** A receive may run several scripts. This is the number of the present one, from 1. */
  round: number
}

interface QueueKind {
  /** How a message with this id is placed. Throws `validation_failed` if the kind refuses it. */
  placeOf(item: SendItem, id: string): Pick<StoredItem, 'groupId' | 'deduplicationId' | 'deduplication'>
  /**
   * The members that a message keeps when a redrive policy moves it between two queues of the kind (checklist 177,
   * 178).
   */
  keptBy(moved: QueueMessage): Pick<StoredItem, 'sentAt' | 'retentionFrom' | 'deduplicationId'>
  /** Runs the script of this kind. Both scripts have replies of the same form. */
  receive(redis: Redis, args: ReceiveArgs, once: ReceiveOnceArgs): Promise<unknown>
  /** The kind compares deduplication ids, so a send may change nothing. */
  deduplicates: boolean
  /** A receive that is repeated under its attempt id gets the same messages. */
  repeatsReceives: boolean
}

/** Standard queues: no order. Groups and deduplication ids are only passed on. */
const STANDARD_KIND: QueueKind = {
  placeOf: ({ groupId = null, deduplicationId = null }) => ({
    groupId,
    deduplicationId,
    deduplication: 'none',
  }),
  keptBy: ({ sentAt, deduplicationId = null }) => ({ sentAt, retentionFrom: sentAt, deduplicationId }),
  receive: (redis, args, { secrets }) =>
    runScript(redis, RECEIVE_ANY, { ...args, digests: Buffer.concat(secrets.map(secretDigest)) }),
  deduplicates: false,
  repeatsReceives: false,
}

/**
 * FIFO queues: messages keep their order within a group, and duplicates are not stored.
 *
 * A FIFO queue compares the sender's deduplication id with the ids of the last 5 minutes. Without one it uses the
 * SHA-256 of the body. Dead letters, moves and redrives have an id of their own, and only this id is compared.
 * Otherwise two deliveries of one message would count as duplicates. A dead letter shows its message's deduplication
 * id. Moves, redrives, and dead letters without one show their own id.
 */
const FIFO_KIND: QueueKind = {
  placeOf: (item, id) => ({ groupId: groupOf(item, id), ...deduplicationOf(item, id) }),
  keptBy: ({ messageId }) => ({ sentAt: null, retentionFrom: null, deduplicationId: messageId }),
  receive: (redis, args, { secrets, attemptId = '', round }) => {
    const proofs = Buffer.concat(secrets.flatMap((secret) => [secret, secretDigest(secret)]))
    return runScript(redis, RECEIVE_IN_ORDER, { ...args, proofs, attempt: attemptId, isFirst: round === 1 })
  },
  deduplicates: true,
  repeatsReceives: true,
}

function groupOf(item: SendItem, id: string): string {
  const { deadLetter } = item
  // A dead letter always gets a group. Refusing it would lose it.
  const groupId = item.groupId ?? deadLetter?.message.groupId ?? (deadLetter && id)
  if (groupId === undefined) throw FantailError.invalid('groupId', 'is needed in a FIFO queue')
  if (item.delaySeconds) throw FantailError.invalid('delaySeconds', 'can only be set for a whole FIFO queue')
  return groupId
}

function deduplicationOf({ id: givenId, deadLetter, deduplicationId, body }: SendItem, id: string) {
  if (deadLetter) {
    const shown = deduplicationId ?? deadLetter.message.deduplicationId ?? id
    return { deduplicationId: shown, deduplication: 'none' as const }
  }
  if (deduplicationId !== undefined) return { deduplicationId, deduplication: 'given' as const }
  if (givenId !== undefined) return { deduplicationId: id, deduplication: 'none' as const }
  return { deduplicationId: bodyDigest(body), deduplication: 'body' as const }
}

/** A queue's kind follows from its name. */
export function kindOf(arn: string): QueueKind {
  return isFifoName(arn) ? FIFO_KIND : STANDARD_KIND
}
