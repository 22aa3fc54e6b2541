/**
 * The quarantine: accepted data that cannot be decoded, or has lost a part that it needs, until an operator decides. It
 * is one of the six ends of a delivery, and the only one that a person has to empty.
 *
 * source (job, lane, log) ─▶ entry added ─▶ source removed      a crash in between repeats both: ids are derived
 *                               entry ─▶ put back (dispatched again) or deleted
 *
 * Entries are never dropped to make room. Past its share of Redis's memory an entry is refused, and its source stays.
 * All keys have one hash tag, so that the quarantine is listed, counted and bounded as one.
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
} from '../keys.ts'
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
 * Share of Redis's memory that the quarantine may fill. It is always free, since publishing ends at PUBLISH_SHARE.
 * @limit memory Share of Redis's memory that the quarantine may fill. Past it: the source stays where it is and is
 * tried again.
 */
export const QUARANTINE_SHARE = 0.05
const LIMIT_SAMPLED_MS = 1_000

/** `present`: an earlier try has added it. `full`: its source must stay where it is. */
export type Quarantined = 'added' | 'present' | 'full'

interface QuarantineOptions {
  /** Stands for maxmemory where Redis has none (FANTAIL_REDIS_MEMORY_BYTES). */
  memoryBytes?: number | undefined
  /** Confirms an entry before its source is removed. */
  acks?: Pick<ReplicaAcks, 'confirm'>
  /** Notified of each try, for logs and metrics. */
  onTry?(result: Quarantined, entry: NewEntry): void
}

interface QuarantineFigures {
  entries: number
  bytes: number
  /** Past this an entry is refused. */
  bytesMax: number
}

export class Quarantine {
  readonly #redis: Redis
  readonly #options: QuarantineOptions
  #bytesMax = 0
  #sampledAt = Number.NEGATIVE_INFINITY

  constructor(redis: Redis, options: QuarantineOptions = {}) {
    this.#redis = redis
    this.#options = options
  }

  /**
   * Safe to repeat: an id is added once. The source may be removed unless the answer is `full`. Rejects where Redis
   * fails.
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

  /** null where there is none. */
  async get(id: string): Promise<QuarantineEntry | null> {
    return (await this.#read([id]))[0] ?? null
  }

  /** The bytes that could not be read, as they were; null where there is no such entry. */
  async raw(id: string): Promise<Buffer | null> {
    return this.#redis.hgetBuffer(quarantinedKey(id), 'raw')
  }

  /** Entries about a message; its id may have been read in what could not be decoded as a whole. */
  async ofMessage(messageId: string): Promise<QuarantineEntry[]> {
    const key = quarantinedMessagesKey()
    const found = await this.#redis.zrangebylex(key, `[${messageId} `, `[${messageId} \xff`)
    return this.#read(found.map((member) => member.slice(messageId.length + 1)))
  }

  /** Ids of the messages that the entry is about, as far as they could be read. */
  async messageIds(id: string): Promise<string[]> {
    return JSON.parse((await this.#redis.hget(quarantinedKey(id), 'messageIds')) ?? '[]') as string[]
  }

  /** To be taken before what an entry holds is put back. */
  mark(): ServerMark {
    return new ServerMarks([this.#redis]).mark(QUARANTINE_BASE)
  }

  /**
   * False where it is not there. `storage_unavailable` where Redis may have lost what was put back since `restsOn` was
   * taken: the entry stays.
   */
  async remove(id: string, restsOn?: ServerMark): Promise<boolean> {
    const messages = (await this.messageIds(id)).map((message) => ({ message }))
    if (restsOn && !restsOn.holds()) throw lostTouch()
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

function lostTouch(): FantailError {
  const message = 'the connection to Redis was closed meanwhile; the entry stays, put it back again'
  return new FantailError('storage_unavailable', message, { retryAfterSeconds: 1 })
}
