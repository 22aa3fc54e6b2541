/** Counts what a Redis stores for Fantail. On request it also checks the checksums of all messages and records. */
import type { Redis } from 'ioredis'
import { besidePayload } from '../queues/items/queue-items.ts'
import { checkText, parseRecord } from '../records/checksums.ts'
import { bodiesOfJob, readMessage } from '../records/message-bodies.ts'
import { batch } from '../redis/batch.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { replies } from '../redis/pages.ts'
import { countWaitingWork, keysOf, type WaitingWork } from './waiting-work.ts'

export interface StoredData extends WaitingWork {
  keys: number
  topics: number
  subscriptions: number
  queues: number
  /** Texts with a checksum. 0 if only amounts were asked for. */
  checked: number
  /** One sentence for each text that was changed, with its key. */
  damaged: string[]
}

/** Throws if the text was changed. `fields` are those of the key's hash. */
type Check = (text: string, key: string, fields: Record<string, string>) => unknown

interface Kind {
  /** The key's name after its hash tag. */
  name: RegExp
  /** The field with a checksum. Absent: every field has one. */
  field?: string
  check: Check
  counts?: 'topics' | 'subscriptions' | 'queues'
}

const KINDS: Kind[] = [
  { name: /^topic:/, field: 'record', check: parseRecord, counts: 'topics' },
  { name: /^slice:/, field: 'topic', check: parseRecord },
  { name: /^subs:/, check: parseRecord, counts: 'subscriptions' },
  { name: /^queue:arn:/, field: 'record', check: parseRecord, counts: 'queues' },
  {
    name: /^q:[^:]+:i:/,
    field: 'p',
    check: (text, key, { g = '' }) =>
      checkText(text, key, besidePayload(key.slice(key.lastIndexOf(':') + 1), g)),
  },
  { name: /^msg:/, field: 'b', check: readMessage },
  { name: /^kept:bodies:/, check: readMessage },
  { name: /^dispatch-\d+:\d+$/, field: 'data', check: (text) => bodiesOfJob(text).map(readMessage) },
]

/** `checks`: reads every message and record, which is meant for a server without load. Else only names and lengths. */
export async function readStoredData(redis: Redis, { checks }: { checks: boolean }): Promise<StoredData> {
  const work = await countWaitingWork(redis)
  const found: StoredData = {
    ...work,
    keys: 0,
    topics: 0,
    subscriptions: 0,
    queues: 0,
    checked: 0,
    damaged: [],
  }
  for (const master of mastersOf(redis)) {
    // A scan returns some keys more than once.
    const seen = new Set<string>()
    for await (const page of keysOf(master)) {
      const keys = page.filter((key) => !seen.has(key.toString('latin1')))
      for (const key of keys) seen.add(key.toString('latin1'))
      found.keys += keys.length
      await readPage(master, keys, { checks, found })
    }
  }
  return found
}

async function readPage(
  master: Redis,
  keys: Buffer[],
  { checks, found }: { checks: boolean; found: StoredData },
): Promise<void> {
  const known = keys.flatMap((key) => {
    const text = key.toString('latin1')
    const kind = KINDS.find(({ name }) => name.test(text.slice(text.indexOf('}:') + 2)))
    return kind ? [{ key, text, kind }] : []
  })
  const counted = known.filter(({ kind }) => kind.counts)
  const lengths = batch(master)
  for (const { key } of counted) lengths.hlen(key)
  for (const [index, length] of (await replies(lengths)).entries()) {
    const of = counted[index]?.kind.counts
    if (of) found[of] += of === 'subscriptions' ? Number(length) : 1
  }
  if (!checks) return
  const asked = batch(master)
  for (const { key } of known) asked.hgetall(key)
  const hashes = (await replies(asked)) as Record<string, string>[]
  for (const [index, { text, kind }] of known.entries()) checkHash(text, kind, hashes[index] ?? {}, found)
}

function checkHash(key: string, kind: Kind, fields: Record<string, string>, found: StoredData): void {
  const texts = kind.field === undefined ? Object.values(fields) : [fields[kind.field]]
  for (const text of texts) {
    if (text === undefined) continue
    found.checked++
    try {
      kind.check(text, key, fields)
    } catch (error) {
      const { cause, message } = error as Error
      found.damaged.push(`${key}: ${cause instanceof Error ? cause.message : message}`)
    }
  }
}
