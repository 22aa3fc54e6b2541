/** Standard queues: no order. Groups and deduplication ids are only passed on. */
import { readScript, runScript } from '../../redis/scripts.ts'
import { secretDigest } from '../items/queue-items.ts'
import type { QueueKind } from './queue-kind.ts'

const RECEIVE = readScript('receive-messages-1')

export const STANDARD_KIND: QueueKind = {
  placeOf: ({ groupId = null, deduplicationId = null }) => ({
    groupId,
    deduplicationId,
    deduplication: 'none',
  }),
  keptBy: ({ sentAt, deduplicationId = null }) => ({ sentAt, retentionFrom: sentAt, deduplicationId }),
  receive: (redis, args, { secrets }) =>
    runScript(redis, RECEIVE, { ...args, digests: Buffer.concat(secrets.map(secretDigest)) }),
  deduplicates: false,
  repeatsReceives: false,
}
