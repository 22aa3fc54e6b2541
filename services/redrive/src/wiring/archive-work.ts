/** The layer of archives: the place of their blocks, and the archiver. */
import { nameOfArn } from '@fantail/contracts'
import { type OpenBlockStore, openBlockStore } from '@fantail/delivery'
import { Archives } from '@fantail/store'
import { type Archiver, createArchiver } from '../upkeep/archiver.ts'
import type { RedriveGround } from './redrive-ground.ts'
import type { RedriveServiceOptions } from './redrive-options.ts'

/** Empty if the options name no place for archives. */
export interface ArchiveWork {
  blocks?: OpenBlockStore
  archiver?: Archiver
}

export function createArchiveWork(
  { redis, storageGuard, metrics, clock }: RedriveGround,
  { archive, awsClientCredentials: credentials, log }: RedriveServiceOptions,
): ArchiveWork {
  if (archive === undefined) return {}
  const blocks = openBlockStore({ url: archive, credentials, clock: clock.now })
  const archives = new Archives(redis, blocks, {
    onLost: (topic, messages) => log.error({ topicArn: topic.arn, messages }, 'archive.texts_missing'),
  })
  const archiver = createArchiver({
    redis,
    archives,
    storageGuard,
    log,
    onBlock: ({ arn }, messages) => metrics.archivedMessages.of({ topic: nameOfArn(arn) }).add(messages),
  })
  return { blocks, archiver }
}
