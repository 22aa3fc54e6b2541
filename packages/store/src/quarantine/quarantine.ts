/**
 * The quarantine holds accepted data that cannot be decoded, or has lost a part that it needs, until an operator
 * decides. It is one of the ends of a delivery, and the only one after which a person must act.
 *
 * source (job, lane, log) ─▶ entry added ─▶ source removed
 *                               entry ─▶ put back (dispatched again) or deleted
 *
 * After a crash between the first two steps, both are repeated. The entry is added once, because its id is derived from
 * its source. Entries are never dropped to free memory. Past its share of Redis's memory an entry is refused, and its
 * source stays. All keys have one hash tag, so that the quarantine is listed, counted and bounded as a whole.
 */
import { FantailError } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { readMemory } from '../capacity/storage-guard.ts'
import { type ServerMark, ServerMarks } from '../copies/server-marks.ts'
import {
  QUARANTINE_BASE,
  quarantineBytesKey,
  quarantinedKey,
  quarantinedMessagesKey,
  quarantineKey,
} from '../keys/keys.ts'
import { batch } from '../redis/batch.ts'
import { decodeCursor, encodeCursor, type Page, replies } from '../redis/pages.ts'
import type { ReplicaAcks } from '../redis/replica-acks.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import {
  messageIdsIn,
  type NewEntry,
  packEntry,
  type QuarantineEntry,
  readEntryFields,
  SUMMARY_FIELDS,
} from './quarantine-entry.ts'

const ADD = readScript('quarantine-entry-1')
const RELEASE = readScript('release-quarantined-1')

/**
 * This share is always free, because publishing ends at PUBLISH_SHARE.
 * @limit memory (Redis) Share of Redis's memory that the quarantine may fill. Past it: the source stays where it is and
 * is tried again.
 */
export const QUARANTINE_SHARE = 0.05
const LIMIT_SAMPLED_MS = 1_000
const NOT_CONNECTED =
  'a connection to Redis is closed, or leads to another server; the entry stays, try again'
const LOST_TOUCH = 'the connection to Redis was closed meanwhile; the entry stays, put it back again'

/** `present`: an earlier try has added it. `full`: its source must stay where it is. */
export type Quarantined = 'added' | 'present' | 'full'

interface QuarantineOptions {
  /** Used instead of Redis's maxmemory if none is set (FANTAIL_REDIS_MEMORY_BYTES). */
  memoryBytes?: number | undefined
  /** Confirms an entry before its source is removed. */
  acks?: Pick<ReplicaAcks, 'confirm'>
  /** Further connections that put the data of an entry back. */
  putBackOn?: Redis[]
  /** Called after each try, for logs and metrics. */
  onTry?(result: Quarantined, entry: NewEntry): void
}

interface QuarantineFigures {
  entries: number
  bytes: number
  /** Past this size an entry is refused. */
  bytesMax: number
}

export class Quarantine {
  readonly #redis: Redis
  readonly #options: QuarantineOptions
  readonly #servers: ServerMarks
  #bytesMax = 0
  #sampledAt = Number.NEGATIVE_INFINITY

  constructor(redis: Redis, options: QuarantineOptions = {}) {
    this.#redis = redis
    this.#options = options
    this.#servers = new ServerMarks([redis, ...(options.putBackOn ?? [])])
  }

  /**
   * Adds an entry. Safe to repeat, because an id is added only once. The source may be removed unless the answer is
   * `full`. Rejects if Redis fails.
   */
  async add(entry: NewEntry): Promise<Quarantined> {
    const ids = messageIdsIn(entry)
    const reply = await runScript(this.#redis, ADD, {
      base: QUARANTINE_BASE,
      id: entry.id,
      bytesMax: await this.#limit(),
      messages: ids.length,
      values: [...ids, ...packEntry(entry, ids)],
    })
    const result = reply === 1 ? 'added' : reply === 0 ? 'present' : 'full'
    if (result !== 'full') await this.#options.acks?.confirm(quarantineKey())
    this.#options.onTry?.(result, entry)
    return result
  }

  /** In the order of their ids. */
  async list({
    cursor,
    limit,
  }: {
    cursor?: string | undefined
    limit: number
  }): Promise<Page<QuarantineEntry>> {
    const after = cursor === undefined ? '-' : `(${decodeCursor(cursor, 1)[0]}`
    const ids = await this.#redis.zrangebylex(quarantineKey(), after, '+', 'LIMIT', 0, limit)
    const nextCursor = ids.length < limit ? null : encodeCursor([ids.at(-1) ?? ''])
    return { items: await this.#read(ids), nextCursor }
  }

  /** null if there is none. */
  async get(id: string): Promise<QuarantineEntry | null> {
    return (await this.#read([id]))[0] ?? null
  }

  /** The unreadable bytes, unchanged. null: there is no such entry. */
  async raw(id: string): Promise<Buffer | null> {
    return this.#redis.hgetBuffer(quarantinedKey(id), 'raw')
  }

  /** Entries about a message. The id may have been found in data that cannot be decoded as a whole. */
  async ofMessage(messageId: string): Promise<QuarantineEntry[]> {
    const key = quarantinedMessagesKey()
    const found = await this.#redis.zrangebylex(key, `[${messageId} `, `[${messageId} \xff`)
    return this.#read(found.map((member) => member.slice(messageId.length + 1)))
  }

  /** Ids of the messages that the entry is about, if they could be read. */
  async messageIds(id: string): Promise<string[]> {
    return JSON.parse((await this.#redis.hget(quarantinedKey(id), 'messageIds')) ?? '[]') as string[]
  }

  /**
   * Must be called before the data of an entry is put back. Throws `storage_unavailable` if the entry could not be
   * removed afterwards, because a connection is closed or leads to another server than the others.
   */
  mark(): ServerMark {
    const mark = this.#servers.mark(QUARANTINE_BASE)
    if (!mark.holds()) throw unavailable(NOT_CONNECTED)
    return mark
  }

  /**
   * Removes an entry. Returns false if it is not there. Throws `storage_unavailable` if `restsOn` no longer holds:
   * Redis may have lost the data that was put back, so the entry stays.
   */
  async remove(id: string, restsOn?: ServerMark): Promise<boolean> {
    const messages = (await this.messageIds(id)).map((message) => ({ message }))
    if (restsOn && !restsOn.holds()) throw unavailable(LOST_TOUCH)
    return (await runScript(this.#redis, RELEASE, { base: QUARANTINE_BASE, id, messages })) === 1
  }

  async figures(): Promise<QuarantineFigures> {
    const asked = batch(this.#redis)
    asked.zcard(quarantineKey()).get(quarantineBytesKey())
    const [entries, bytes] = (await replies(asked)) as [number, string | null]
    return { entries, bytes: Number(bytes ?? 0), bytesMax: await this.#limit() }
  }

  async #read(ids: string[]): Promise<QuarantineEntry[]> {
    if (ids.length === 0) return []
    const asked = batch(this.#redis)
    for (const id of ids)
      asked.hmget(quarantinedKey(id), ...SUMMARY_FIELDS).hstrlen(quarantinedKey(id), 'raw')
    const found = await replies(asked)
    return ids.flatMap((id, i) => {
      const fields = found[2 * i] as (string | null)[]
      return readEntryFields(id, fields, found[2 * i + 1] as number) ?? []
    })
  }

  async #limit(): Promise<number> {
    if (performance.now() - this.#sampledAt > LIMIT_SAMPLED_MS) {
      const { limitBytes } = await readMemory(this.#redis, this.#options.memoryBytes)
      this.#bytesMax = Math.min(Number.MAX_SAFE_INTEGER, Math.floor(limitBytes * QUARANTINE_SHARE))
      this.#sampledAt = performance.now()
    }
    return this.#bytesMax
  }
}

function unavailable(message: string): FantailError {
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1 })
}
