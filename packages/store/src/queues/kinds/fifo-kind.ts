/**
 * FIFO queues: messages keep their order within a group, and duplicates are not stored.
 *
 * A FIFO queue compares the sender's deduplication id with the ids of the last 5 minutes. Without one it uses the
 * SHA-256 of the body. Dead letters, moves and redrives have an id of their own, and only this id is compared.
 * Otherwise two deliveries of one message would count as duplicates. A dead letter shows its message's deduplication
 * id. Moves, redrives, and dead letters without one show their own id.
 */
import { FantailError } from '@fantail/contracts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { bodyDigest, secretDigest } from '../items/queue-items.ts'
import type { SendItem } from '../items/queue-records.ts'
import type { QueueKind } from './queue-kind.ts'

const RECEIVE = readScript('receive-in-order-1')

export const FIFO_KIND: QueueKind = {
  placeOf: (item, id) => ({ groupId: groupOf(item, id), ...deduplicationOf(item, id) }),
  keptBy: ({ messageId }) => ({ sentAt: null, retentionFrom: null, deduplicationId: messageId }),
  receive: (redis, args, { secrets, attemptId = '', round }) => {
    const proofs = Buffer.concat(secrets.flatMap((secret) => [secret, secretDigest(secret)]))
    return runScript(redis, RECEIVE, { ...args, proofs, attempt: attemptId, isFirst: round === 1 })
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
