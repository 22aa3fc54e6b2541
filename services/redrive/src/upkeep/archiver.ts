/**
 * Writes the blocks of archives, and deletes what is too old. One process at a time does it. If two do, or if one is
 * killed, nothing is lost or written twice (store: archive/archives.ts). While the place of the blocks cannot be
 * reached, messages wait in the rings of their topics.
 */
import { createLoop, createStateLog, type Logger } from '@fantail/runtime'
import {
  ARCHIVED_FOR_MS,
  ARCHIVED_ROLE,
  type ArchivedTopic,
  type Archives,
  archivedTopics,
  keepRole,
  type Redis,
  type StorageGuard,
  sideBySide,
  takeRole,
} from '@fantail/store'

/** Pause between two rounds over the archives. A block may wait as much longer. */
const ARCHIVE_EVERY_MS = 2_000
/** Archives that are written at a time. Past it: the others follow. */
const ARCHIVES_AT_ONCE = 4
/** Blocks of one archive that follow each other. Past it: the next round continues. */
const BLOCKS_IN_A_ROW_MAX = 200
/** @limit memory (Redis) Share of Redis's memory that allows small blocks. Past it: they are written after 10 s. */
const CALM_SHARE = 0.5

interface ArchiverOptions {
  redis: Redis
  archives: Pick<Archives, 'writeBlock' | 'sweep'>
  storageGuard: Pick<StorageGuard, 'refresh' | 'sample'>
  log: Logger
  /** Called after each block, with the number of its messages. */
  onBlock?: (topic: ArchivedTopic, messages: number) => void
}

export interface Archiver {
  start(): void
  stop(): Promise<void>
  /** Deletes blocks that are too old. Returns how many. Rejects at the end if an archive failed. */
  sweep(): Promise<number>
}

export function createArchiver({ redis, archives, storageGuard, log, onBlock }: ArchiverOptions): Archiver {
  const report = createStateLog({ log, what: 'archive', initial: 'up' })

  async function isCalm(): Promise<boolean> {
    await storageGuard.refresh()
    const { usedBytes = 0, limitBytes = Number.POSITIVE_INFINITY } = storageGuard.sample ?? {}
    return usedBytes < limitBytes * CALM_SHARE
  }

  /** Returns the problem of this archive. Others are tried nevertheless. */
  async function write(topic: ArchivedTopic, calm: boolean, signal: AbortSignal): Promise<unknown> {
    try {
      for (let blocks = 0; blocks < BLOCKS_IN_A_ROW_MAX && !signal.aborted; blocks++) {
        const messages = await archives.writeBlock(topic, { isCalm: calm })
        if (messages === 0) return undefined
        onBlock?.(topic, messages)
      }
      return undefined
    } catch (error) {
      return error
    }
  }

  async function round(signal: AbortSignal): Promise<number> {
    if (!(await takeRole(redis, 'archive', ARCHIVE_EVERY_MS))) return ARCHIVE_EVERY_MS
    const topics = await archivedTopics(redis)
    if (topics.length === 0) return ARCHIVE_EVERY_MS
    const calm = await isCalm()
    const results = await sideBySide(topics, ARCHIVES_AT_ONCE, (topic) => write(topic, calm, signal))
    const problem = results.find((result) => result !== undefined)
    if (problem === undefined) {
      report('up')
      await keepRole(redis, ARCHIVED_ROLE, ARCHIVED_FOR_MS)
    } else report('down', problem)
    return ARCHIVE_EVERY_MS
  }

  const loop = createLoop({ name: 'archiver', log, round })
  return {
    start: () => void loop.start(),
    stop: () => loop.stop(),
    async sweep() {
      const problems: unknown[] = []
      const deleted = await sideBySide(await archivedTopics(redis), ARCHIVES_AT_ONCE, (topic) =>
        archives.sweep(topic).catch((problem: unknown) => {
          problems.push(problem)
          return 0
        }),
      )
      if (problems.length > 0) throw problems[0]
      return deleted.reduce((sum, count) => sum + count, 0)
    },
  }
}
