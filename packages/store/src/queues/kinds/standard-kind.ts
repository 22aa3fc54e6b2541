/** Standard queues: no order. Groups and deduplication ids are only passed on. */
import { readScript } from '../../redis/scripts.ts'
import { secretDigest } from '../queue-items.ts'
import type { QueueKind } from './queue-kind.ts'

export const STANDARD_KIND: QueueKind = {
  placeOf: ({ groupId = null, deduplicationId = null }) => ({
    groupId,
    deduplicationId,
    deduplication: 'none',
  }),
  keptBy: ({ sentAt, deduplicationId = null }) => ({ sentAt, retentionFrom: sentAt, deduplicationId }),
  receiveScript: readScript('receive-messages-1'),
  proofOf: (secret) => [secretDigest(secret)],
  receiveArgs: () => [],
  deduplicates: false,
  repeatsReceives: false,
}
