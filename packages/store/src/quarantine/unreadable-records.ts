/**
 * Lists stored records in the quarantine that the sweeps cannot read, or cannot work on. Such a record stays where it
 * is, so each sweep tries it again. An entry leaves when a sweep no longer reports its record.
 */

import type { Redis } from 'ioredis'
import { dueKey, platformApplicationsKey, queuesKey, topicsKey, unprovenKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { CorruptRecordError } from '../records/stored-json.ts'
import { batch } from '../redis/batch.ts'
import { encodeCursor, readableReplies } from '../redis/pages.ts'
import type { OnUnreadable } from '../redis/unreadable.ts'
import type { Quarantine } from './quarantine.ts'

/** Begins the id of each entry, followed by the key of the record. */
const RECORD = 'record.'
/** Unreadable records that one sweep lists in the quarantine. Past it: the others only appear in the log. */
const UNREADABLE_RECORDS_MAX = 1_000

/** Sorted sets that exist once per shard. Readers of all shards pass over one that they cannot read. */
const INDEXES = [topicsKey, queuesKey, platformApplicationsKey, dueKey, unprovenKey]

type Entries = Pick<Quarantine, 'add' | 'list' | 'remove'>

export class UnreadableRecords {
  readonly #quarantine: Entries
  #reported = new Map<string, Error>()

  constructor(quarantine: Entries) {
    this.#quarantine = quarantine
  }

  readonly report: OnUnreadable = (error, key) => {
    if (this.#reported.size < UNREADABLE_RECORDS_MAX) this.#reported.set(key, error)
  }

  /** Reports indexes of shards that cannot be read. */
  async sweepIndexes(redis: Redis): Promise<number> {
    const keys = INDEXES.flatMap((key) =>
      Array.from({ length: SHARD_COUNT }, (_, shard) => key(shardBase(shard))),
    )
    const looks = batch(redis)
    for (const key of keys) looks.zcard(key)
    await readableReplies(looks, { keyOf: (i) => keys[i] ?? '', onUnreadable: this.report })
    return 0
  }

  /**
   * Called after all sweeps. Adds entries for what they have reported, and removes entries of records that were not
   * reported again. Returns how many were added.
   */
  async sweep(): Promise<number> {
    const reported = this.#reported
    this.#reported = new Map()
    let added = 0
    for (const [key, error] of reported) if (await this.#add(key, error)) added += 1
    const cursor = encodeCursor([RECORD])
    const { items } = await this.#quarantine.list({ cursor, limit: UNREADABLE_RECORDS_MAX })
    for (const { id, reason } of items) {
      if (reason === 'recordUnreadable' && !reported.has(id.slice(RECORD.length)))
        await this.#quarantine.remove(id)
    }
    return added
  }

  async #add(key: string, error: Error): Promise<boolean> {
    const cause = error instanceof CorruptRecordError ? error.cause : error
    const raw = error instanceof CorruptRecordError ? error.text : ''
    const detail = `${key}: ${cause instanceof Error ? cause.message : error.message}`
    const entry = { id: `${RECORD}${key}`, reason: 'recordUnreadable', detail, raw } as const
    return (await this.#quarantine.add(entry)) === 'added'
  }
}
