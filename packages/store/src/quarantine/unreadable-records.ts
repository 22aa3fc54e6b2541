/**
 * Lists stored records in the quarantine that the sweeps cannot read, or cannot work on. Such a record stays where it
 * is, so each sweep tries it again. An entry leaves when a sweep no longer reports its record.
 */
import type { Redis } from 'ioredis'
import {
  apiKeyNamesKey,
  apiKeysKey,
  optedOutKey,
  platformApplicationsKey,
  queuesKey,
  sandboxNumbersKey,
  smsAttributesKey,
  suppressedAddressesKey,
  suppressionsKey,
  topicsKey,
  vaultKeysKey,
  watchedTopicsKey,
} from '../keys/keys.ts'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { batch } from '../redis/batch.ts'
import { encodeCursor, replies } from '../redis/pages.ts'
import type { OnUnreadable } from '../redis/unreadable.ts'
import type { Quarantine } from './quarantine.ts'

/** Begins the id of each entry, followed by the key of the record. */
const RECORD = 'record.'
/** Unreadable records that one sweep lists in the quarantine. Past it: the others only appear in the log. */
const UNREADABLE_RECORDS_MAX = 1_000

/** Indexes that exist once per shard. Readers of all shards pass over one that they cannot read. */
const INDEXES: [(base: string) => string, RedisType][] = [
  [topicsKey, 'zset'],
  [watchedTopicsKey, 'zset'],
  [queuesKey, 'zset'],
  [platformApplicationsKey, 'zset'],
]
/** Keys that hold all records of their kind, or their names. */
const WHOLE_LISTS: [string, RedisType][] = [
  [apiKeysKey(), 'hash'],
  [apiKeyNamesKey(), 'zset'],
  [suppressionsKey(), 'hash'],
  [suppressedAddressesKey(), 'zset'],
  [optedOutKey(), 'zset'],
  [smsAttributesKey(), 'hash'],
  [sandboxNumbersKey(), 'hash'],
  [vaultKeysKey(), 'set'],
]

type RedisType = 'zset' | 'hash' | 'set'

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

  /** Reports indexes that have another type. */
  async sweepIndexes(redis: Redis): Promise<number> {
    const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
    const ofShards = INDEXES.flatMap(([key, type]) => shards.map((base) => [key(base), type] as const))
    const indexes = [...ofShards, ...WHOLE_LISTS]
    const looks = batch(redis)
    for (const [key] of indexes) looks.type(key)
    for (const [i, found] of (await replies(looks)).entries()) {
      const [key = '', type] = indexes[i] ?? []
      if (found !== type && found !== 'none')
        this.report(new TypeError(`it is a ${found} instead of a ${type}`), key)
    }
    return 0
  }

  /**
   * Called after all sweeps. Adds entries for what they have reported, and removes entries of records that were not
   * reported again. `failed`: a sweep did not end, so entries stay. Returns how many were added.
   */
  async sweep(failed = false): Promise<number> {
    const reported = this.#reported
    this.#reported = new Map()
    let added = 0
    for (const [key, error] of reported) if (await this.#add(key, error)) added += 1
    if (failed) return added
    const cursor = encodeCursor([RECORD])
    const { items } = await this.#quarantine.list({ cursor, limit: UNREADABLE_RECORDS_MAX })
    for (const { id, reason } of items) {
      if (reason === 'recordUnreadable' && !reported.has(id.slice(RECORD.length)))
        await this.#quarantine.remove(id)
    }
    return added
  }

  async #add(key: string, error: Error): Promise<boolean> {
    const cause = error instanceof UnreadableRecordError ? error.cause : error
    const raw = error instanceof UnreadableRecordError ? error.text : ''
    const detail = `${key}: ${cause instanceof Error ? cause.message : error.message}`
    const entry = { id: `${RECORD}${key}`, reason: 'recordUnreadable', detail, raw } as const
    return (await this.#quarantine.add(entry)) === 'added'
  }
}
