/** The bounds of growth: the memory guard, the quotas of customers, and the rings of messages, which give way first. */
import {
  KEPT_GIVE_WAY_SHARE,
  KeptUpkeep,
  Quotas,
  type Redis,
  readTopicBytes,
  StorageGuard,
  StoredBytes,
} from '@fantail/store'
import { QuotaWatch } from '../../caches/quota-watch.ts'
import { SharedRead } from '../../caches/shared-read.ts'
import type { PublishApiOptions } from './api-options.ts'

/** Bytes of topics may be this old, and up to 15 s if reading them takes long. */
const STORED_BYTES_FRESH_MS = 2_000

export type Capacity = ReturnType<typeof createCapacity>

export function createCapacity(redis: Redis, { settings, log, telemetry }: PublishApiOptions) {
  const { keptMessagesShare: share, redisMemoryBytes: memoryBytes } = settings
  const { storageRefusals } = telemetry.metrics
  const keptUpkeep = new KeptUpkeep({
    redis,
    share,
    memoryBytes,
    onProblem: (error) => log.debug({ err: error }, 'kept_messages.check_failed'),
  })
  const bytesOfTopics = new StoredBytes(redis)
  const storedBytes = new SharedRead(() => bytesOfTopics.read(), { freshMs: STORED_BYTES_FRESH_MS })
  const quotaWatch = new QuotaWatch({
    // The watch only reads. Changes of quotas need the guard, which is made after the watch.
    quotas: new Quotas(redis),
    storedBytes,
    onRefused: () => storageRefusals.of({ cause: 'quota' }).add(),
    log,
  })
  const storageGuard = new StorageGuard({
    redis,
    onSample: ({ usedBytes, limitBytes }) => {
      if (usedBytes >= limitBytes * KEPT_GIVE_WAY_SHARE) keptUpkeep.check()
      quotaWatch.check()
    },
    topicBytes: () => readTopicBytes(redis),
    memoryBytes,
    onRefused: (cause) => storageRefusals.of({ cause }).add(),
    onState: (state, sample) => log[state === 'full' ? 'warn' : 'info']({ ...sample }, `storage.${state}`),
  })
  const quotas = new Quotas(redis, { growth: storageGuard })
  return { keptUpkeep, storedBytes, quotaWatch, storageGuard, quotas }
}
