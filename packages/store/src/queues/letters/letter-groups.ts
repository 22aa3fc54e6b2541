/** Groups the dead letters of a queue by their values. Each call looks at a bounded number, the oldest first. */
import { type RedriveFilter, withoutSubscription } from '@fantail/contracts'
import type { LetterGroupMember } from '@fantail/contracts/schemas/queues/letter-schemas'
import type { Redis } from 'ioredis'
import { encodeCursor } from '../../redis/pages.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { readQueueCursor } from '../items/queue-contents.ts'
import { queueMissing } from '../items/queue-errors.ts'
import { atQueue, type DeadLetterCounts } from '../items/queue-records.ts'
import { filterJson } from '../items/redrive-counts.ts'

const GROUP = readScript('group-letters-1')

/** Dead letters that one script groups, in about 2 ms. Past it: the next script continues. */
const GROUP_SCAN_ITEMS_MAX = 200
/** Scripts of one answer that groups dead letters. Past it: the answer has a cursor. */
const GROUP_ROUNDS_MAX = 500
/** @limit Groups of dead letters in one answer. Past it: the smallest are left out and counted. */
const LETTER_GROUPS_MAX = 200
/** Dead letters that a group names. Past it: they are only counted. */
const GROUP_SAMPLES_MAX = 3
const GROUP_HOUR_MS = 3_600_000

export interface LetterGroup {
  /** The values that all letters of the group have, for the members that were asked for. */
  values: Partial<Record<LetterGroupMember, string>>
  count: number
  oldestAt: number
  newestAt: number
  samples: { messageId: string; publishedMessageId: string }[]
}

export interface GroupedLetters {
  counts: DeadLetterCounts
  groups: LetterGroup[]
  /** Number of groups that were left out, the smallest ones. */
  otherGroups: number
  /** Beginning of the hour, epoch ms → number of letters. */
  byHour: Map<number, number>
  matched: number
  scanned: number
  /** Age of the last message that was looked at, epoch ms. null: all were. */
  scannedTo: number | null
  nextCursor: string | null
}

interface GroupRequest {
  groupBy: readonly LetterGroupMember[]
  filter: RedriveFilter
  cursor?: string | undefined
}

export async function groupLetters(
  redis: Redis,
  arn: string,
  { groupBy, filter, cursor }: GroupRequest,
): Promise<GroupedLetters> {
  let place = readQueueCursor(cursor)
  const merged = new Merged(groupBy)
  let [scanned, scannedTo] = [0, 0]
  for (let round = 0; round < GROUP_ROUNDS_MAX; round++) {
    const page = await readPage(redis, arn, { ...place, filterJson: filterJson(filter) })
    for (const row of page.rows) merged.add(row)
    scanned += page.lookedAt
    scannedTo = page.scannedTo ?? scannedTo
    place = page.place
    if (place.fromScore === '') return { ...merged.answer(), scanned, scannedTo: null, nextCursor: null }
  }
  const nextCursor = encodeCursor([place.fromScore, place.fromId])
  return { ...merged.answer(), scanned, scannedTo, nextCursor }
}

interface Place {
  fromScore: string
  fromId: string
}

/** Letters that have the same values in everything. */
interface Row {
  values: Record<LetterGroupMember, string>
  hourAt: number
  count: number
  oldestAt: number
  newestAt: number
  samples: LetterGroup['samples']
}

type Reply = [fromScore: Buffer, fromId: Buffer, lookedAt: number, scannedTo: Buffer, groups: RowReply[]]
type RowReply = (Buffer | number)[]

async function readPage(redis: Redis, arn: string, request: Place & { filterJson: string }) {
  const bounds = { lookedAtMax: GROUP_SCAN_ITEMS_MAX, samplesMax: GROUP_SAMPLES_MAX, hourMs: GROUP_HOUR_MS }
  const reply = (await runScript(redis, GROUP, { ...atQueue(arn), ...bounds, ...request })) as Reply | null
  if (reply === null) throw queueMissing()
  const [fromScore, fromId, lookedAt, scannedTo, groups] = reply
  return {
    place: { fromScore: String(fromScore), fromId: String(fromId) },
    lookedAt,
    scannedTo: scannedTo.length === 0 ? undefined : Number(scannedTo),
    rows: groups.map(readRow),
  }
}

function readRow(reply: RowReply): Row {
  const [reason = '', status = '', subscription = '', error = '', hour, count, oldest, newest] = reply
  const ids = reply.slice(8).map(String)
  const hourAt = Number(hour) * GROUP_HOUR_MS
  const values = {
    reason: String(reason),
    statusCode: String(status),
    subscription: String(subscription),
    topic: withoutSubscription(String(subscription)),
    error: String(error),
    hour: String(hourAt),
  }
  const times = { oldestAt: Number(oldest), newestAt: Number(newest) }
  return { values, hourAt, count: Number(count), ...times, samples: pairsOf(ids) }
}

function pairsOf(ids: string[]): LetterGroup['samples'] {
  return ids.flatMap((messageId, i) =>
    i % 2 === 0 ? [{ messageId, publishedMessageId: ids[i + 1] ?? '' }] : [],
  )
}

/** Adds up the rows of all pages. */
class Merged {
  readonly #groupBy: readonly LetterGroupMember[]
  readonly #groups = new Map<string, LetterGroup>()
  readonly #byHour = new Map<number, number>()
  readonly #counts: DeadLetterCounts = { byReason: {}, byStatusCode: {}, bySubscription: {} }
  #matched = 0

  constructor(groupBy: readonly LetterGroupMember[]) {
    this.#groupBy = groupBy
  }

  add(row: Row): void {
    this.#matched += row.count
    this.#count(row)
    if (this.#groupBy.length === 0) return
    const entries = this.#groupBy.map((member) => [member, row.values[member]] as const)
    const name = JSON.stringify(entries)
    const known = this.#groups.get(name)
    if (known === undefined) {
      const { count, oldestAt, newestAt, samples } = row
      this.#groups.set(name, { values: Object.fromEntries(entries), count, oldestAt, newestAt, samples })
      return
    }
    known.count += row.count
    known.oldestAt = Math.min(known.oldestAt, row.oldestAt)
    known.newestAt = Math.max(known.newestAt, row.newestAt)
    known.samples = [...known.samples, ...row.samples].slice(0, GROUP_SAMPLES_MAX)
  }

  #count({ values, hourAt, count }: Row): void {
    addTo(this.#counts.byReason, values.reason, count)
    addTo(this.#counts.byStatusCode, values.statusCode || 'none', count)
    addTo(this.#counts.bySubscription, values.subscription, count)
    this.#byHour.set(hourAt, (this.#byHour.get(hourAt) ?? 0) + count)
  }

  answer(): Omit<GroupedLetters, 'scanned' | 'scannedTo' | 'nextCursor'> {
    const groups = [...this.#groups.values()].sort((a, b) => b.count - a.count)
    const byHour = new Map([...this.#byHour].sort(([a], [b]) => a - b))
    const otherGroups = Math.max(0, groups.length - LETTER_GROUPS_MAX)
    const matched = this.#matched
    return { counts: this.#counts, groups: groups.slice(0, LETTER_GROUPS_MAX), otherGroups, byHour, matched }
  }
}

function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count
}
