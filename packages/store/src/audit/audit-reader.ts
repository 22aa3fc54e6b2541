/** Reads the audit trail, newest line first. */
import type { Redis } from 'ioredis'
import {
  auditBoundKey,
  auditLinesKey,
  auditPortalKey,
  auditRefusedKey,
  auditStrangersKey,
} from '../keys/keys.ts'
import { parseStored } from '../records/stored-json.ts'
import { byStreamId, readStreamId } from '../records/stream-ids.ts'
import { batch } from '../redis/batch.ts'
import { badCursor, decodeCursor, encodeCursor, replies } from '../redis/pages.ts'
import { ifReadable } from '../redis/unreadable.ts'
import type { StoredAuditLine } from './audit-writer.ts'

/** Lines of each stream that one step of a search in the audit trail reads. Past it: a further step follows. */
const AUDIT_STEP_LINES = 300
/** Steps of one search in the audit trail. Past it: the page is short and has a cursor. */
const AUDIT_STEPS_MAX = 7
const ID = /^\d{1,16}-\d{1,16}$/

interface AuditSearch {
  /** Whether the line belongs to the page. */
  matches: (line: StoredAuditLine) => boolean
  /** Only lines at this time or later, epoch ms. */
  since?: number | undefined
  cursor?: string | undefined
  limit: number
}

interface AuditPage {
  lines: StoredAuditLine[]
  nextCursor: string | null
  /** Epoch ms of the oldest line that was read. null: the trail has none. */
  scannedTo: number | null
}

interface Entry {
  id: string
  line: StoredAuditLine
}

export class AuditReader {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Throws `validation_failed` for a wrong cursor. */
  async find({ matches, since = 0, cursor, limit }: AuditSearch): Promise<AuditPage> {
    const lines: StoredAuditLine[] = []
    let before = cursor === undefined ? '+' : `(${idOf(cursor)}`
    let scannedTo: number | null = null
    for (let step = 0; step < AUDIT_STEPS_MAX; step++) {
      const { entries, isLast } = await this.#step(before)
      for (const { id, line } of entries) {
        // A line is written after it was made, so all further ones are older too.
        if (readStreamId(id)[0] < since) return { lines, nextCursor: null, scannedTo }
        before = `(${id}`
        scannedTo = line.at
        if (line.at >= since && matches(line)) lines.push(line)
        if (lines.length === limit) return { lines, nextCursor: encodeCursor([id]), scannedTo }
      }
      if (isLast) return { lines, nextCursor: null, scannedTo }
    }
    return { lines, nextCursor: encodeCursor([before.slice(1)]), scannedTo }
  }

  /** The next lines of all streams, merged. Lines below the end of a full step are left to the next step. */
  async #step(before: string): Promise<{ entries: Entry[]; isLast: boolean }> {
    const pipeline = batch(this.#redis)
    const streams = [
      auditLinesKey(),
      auditBoundKey(),
      auditPortalKey(),
      auditRefusedKey(),
      auditStrangersKey(),
    ]
    for (const key of streams) pipeline.xrevrange(key, before, '-', 'COUNT', AUDIT_STEP_LINES)
    const read = (await replies(pipeline)) as [id: string, fields: string[]][][]
    const lists = read.map((list, i) =>
      list.flatMap(([id, [, text = '']]) => ifReadable(() => entryOf(id, text, streams[i] ?? ''))),
    )
    const full = lists.filter(({ length }) => length === AUDIT_STEP_LINES)
    const ends = full.map((list) => list.at(-1)?.id ?? '').sort(byId)
    const [end] = ends
    const entries = lists.flat().sort((a, b) => byId(a.id, b.id))
    if (end === undefined) return { entries, isLast: true }
    return { entries: entries.filter(({ id }) => byId(id, end) <= 0), isLast: false }
  }
}

function entryOf(id: string, text: string, key: string): Entry {
  return { id, line: parseStored(text, key) as unknown as StoredAuditLine }
}

/** Newest first. */
function byId(a: string, b: string): number {
  return byStreamId(readStreamId(b), readStreamId(a))
}

function idOf(cursor: string): string {
  const [id = ''] = decodeCursor(cursor, 1)
  if (!ID.test(id)) throw badCursor()
  return id
}
