/**
 * Quotas of customers (contracts: customer-quotas.ts). Topics and subscriptions are counted again for each creation,
 * from what exists. So counts never drift, and whatever deletes gives back.
 *
 * Topics lie in many shards, which no script can count at once. A creation therefore notes itself in its quotas, and
 * then counts what exists. Creations that were noted before it count as well, so two at once never exceed a quota. The
 * note of a killed process ends by itself, and its place counts as used until then. A creation that comes after the end
 * of its note would not be counted, so its script refuses it.
 */
import { randomUUID } from 'node:crypto'
import {
  FantailError,
  QUOTA_MEMBERS,
  QUOTAS_MAX,
  type QuotaBounds,
  QuotaExceededError,
  type QuotaMember,
  type QuotaRecord,
  quotaName,
  quotaNamesOf,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import {
  admitLonger,
  type CreatedMember,
  type CreationGate,
  type GrowthGuard,
  UNGUARDED,
} from '../capacity/growth.ts'
import { creatingKey, QUOTAS_BASE, quotasKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { checkText, sumText } from '../records/checksums.ts'
import { parseStored } from '../records/stored-json.ts'
import { batch } from '../redis/batch.ts'
import { readNow } from '../redis/clock.ts'
import { decodeCursor, encodeCursor, type Page, replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable } from '../redis/unreadable.ts'
import { pauseBeforeTry } from '../slices/topics-record.ts'

const PUT = readScript('put-quota-1')
const NOTE = readScript('note-creation-1')
const COUNT = readScript('count-names-1')

/** A creation may begin this long after its note, and its script may run this long after that. */
const CREATION_MS = 4_000
/** How long a note lasts. It must be longer than both times of CREATION_MS. */
const NOTE_MS = 10_000
/** Tries of a creation while others take the last places, and of a change. Past it: it is refused. */
const TRIES_MAX = 50

const UNBOUNDED: QuotaBounds = { topics: null, subscriptions: null, storedBytes: null }

type Used = Record<CreatedMember, number>
/** Bounds that are left out stay. */
type QuotaChange = { [Member in QuotaMember]?: number | null | undefined }

interface Bound {
  name: string
  account: string
  prefix: string
  max: number
}

interface Creation {
  topicArn: string
  member: CreatedMember
  bounds: Bound[]
  id: string
}

interface ListQuotas {
  account: string
  /** Only quotas whose prefixes begin with one of these. Empty: all. */
  within?: readonly string[]
  cursor?: string | undefined
  limit: number
}

export class Quotas implements CreationGate {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  async get(account: string, prefix: string): Promise<QuotaRecord | null> {
    const name = quotaName({ account, prefix })
    const text = await this.#redis.hget(quotasKey(), name)
    return text === null ? null : parse(text, name)
  }

  /** Those that can be read. */
  async all(): Promise<QuotaRecord[]> {
    const texts = Object.entries(await this.#redis.hgetall(quotasKey()))
    return texts.flatMap(([name, text]) => ifReadable(() => parse(text, name)))
  }

  /** Sorted by prefix. */
  async list({ account, within = [], cursor, limit }: ListQuotas): Promise<Page<QuotaRecord>> {
    const after = cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? '')
    const isSeen = (prefix: string) => within.length === 0 || within.some((own) => prefix.startsWith(own))
    const found = (await this.all())
      .filter((quota) => quota.account === account && quota.prefix > after && isSeen(quota.prefix))
      .sort((a, b) => (a.prefix < b.prefix ? -1 : 1))
    const items = found.slice(0, limit)
    return { items, nextCursor: found.length > limit ? encodeCursor([items.at(-1)?.prefix ?? '']) : null }
  }

  /**
   * Makes a quota, or sets the given bounds of an existing one. Throws `conflict` if there are too many, and
   * `validation_failed` if no bound is left.
   */
  async put(
    account: string,
    prefix: string,
    given: QuotaChange,
  ): Promise<{ quota: QuotaRecord; created: boolean }> {
    const name = quotaName({ account, prefix })
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      const text = await this.#redis.hget(quotasKey(), name)
      const [before = UNBOUNDED] = text === null ? [] : ifReadable(() => parse(text, name))
      const quota = { account, prefix, ...changed(before, given) }
      if (QUOTA_MEMBERS.every((member) => quota[member] === null)) {
        throw FantailError.invalid('quota', `must have at least one of ${QUOTA_MEMBERS.join(', ')}`)
      }
      const record = pack(quota, name)
      await admitLonger(this.#growth, text, record)
      const args = { base: QUOTAS_BASE, name, expected: text ?? '', record, quotasMax: QUOTAS_MAX }
      const outcome = String(await runScript(this.#redis, PUT, args))
      if (outcome === 'created' || outcome === 'set') return { quota, created: outcome === 'created' }
      if (outcome === 'full') {
        throw new FantailError('conflict', `there are ${QUOTAS_MAX} quotas, as many as there may be`)
      }
    }
    throw new FantailError('conflict', `the quota of ${prefix} is being changed by others`)
  }

  /** Returns false if there was none. */
  async delete(account: string, prefix: string): Promise<boolean> {
    return (await this.#redis.hdel(quotasKey(), quotaName({ account, prefix }))) === 1
  }

  /** Counts the topics and subscriptions of each prefix. */
  async used(account: string, prefixes: readonly string[]): Promise<Used[]> {
    const shards = Array.from({ length: SHARD_COUNT }, (_, shard) =>
      runScript(this.#redis, COUNT, { base: shardBase(shard), account, prefixes: [...prefixes] }),
    )
    const counts = (await Promise.all(shards)) as number[][]
    const sumAt = (at: number) => counts.reduce((sum, shard) => sum + (shard[at] ?? 0), 0)
    return prefixes.map((_, i) => ({ topics: sumAt(2 * i), subscriptions: sumAt(2 * i + 1) }))
  }

  async within<T>(
    topicArn: string,
    member: CreatedMember,
    create: (validUntil: number | null) => Promise<T>,
  ): Promise<T> {
    const bounds = await this.#boundsOf(topicArn, member)
    const [first] = bounds
    if (!first) return create(null)
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      await pauseBeforeTry(tries)
      const creation = { topicArn, member, bounds, id: randomUUID() }
      const validUntil = await this.#admit(creation)
      if (validUntil === null) continue
      // If this fails, the creation may still be made. Its note then stays until it ends.
      const result = await create(validUntil)
      await this.#forget(creation).catch(() => undefined)
      return result
    }
    throw new QuotaExceededError(first.prefix, member, first.max)
  }

  /**
   * Until when the creation may be made, by the clock of the topic's shard. null: others that may take the last places
   * are under way. Throws `quota_exceeded`.
   */
  async #admit(creation: Creation): Promise<number | null> {
    const { topicArn, member, bounds, id } = creation
    const startedAt = performance.now()
    const names = bounds.map(({ name }) => name)
    const note = { base: QUOTAS_BASE, member, id, noteMs: NOTE_MS, names }
    const before = (await runScript(this.#redis, NOTE, note)) as number[]
    const prefixes = bounds.map(({ prefix }) => prefix)
    const [used, now] = await Promise.all([
      this.used(bounds[0]?.account ?? '', prefixes),
      readNow(this.#redis, shardOf(topicArn)),
    ])
    const left = bounds.map(({ max }, i) => max - (used[i]?.[member] ?? 0))
    const isFree = left.every((places, i) => places > (before[i] ?? 0))
    if (isFree && performance.now() - startedAt < CREATION_MS) return now + CREATION_MS
    await this.#forget(creation)
    const full = bounds.find((_, i) => (left[i] ?? 0) <= 0)
    if (full) throw new QuotaExceededError(full.prefix, member, full.max)
    return null
  }

  async #forget({ bounds, member, id }: Creation): Promise<void> {
    const pipeline = batch(this.#redis)
    for (const { name } of bounds) pipeline.zrem(creatingKey(member, name), id)
    await replies(pipeline)
  }

  async #boundsOf(topicArn: string, member: CreatedMember): Promise<Bound[]> {
    const names = quotaNamesOf(topicArn)
    if (names.length === 0) return []
    const texts = await this.#redis.hmget(quotasKey(), ...names)
    return names.flatMap((name, i) => {
      const text = texts[i]
      if (!text) return []
      const { account, prefix, [member]: max } = parse(text, name)
      return max === null ? [] : [{ name, account, prefix, max }]
    })
  }
}

function changed(before: QuotaBounds, given: QuotaChange): QuotaBounds {
  const bound = (member: QuotaMember) => {
    const wanted = given[member]
    return wanted === undefined ? before[member] : wanted
  }
  return { topics: bound('topics'), subscriptions: bound('subscriptions'), storedBytes: bound('storedBytes') }
}

function pack({ topics, subscriptions, storedBytes }: QuotaBounds, name: string): string {
  return sumText(JSON.stringify({ topics, subscriptions, storedBytes }), name)
}

function parse(text: string, name: string): QuotaRecord {
  const key = `${quotasKey()} ${name}`
  const bounds = parseStored(checkText(text, key, name), key) as unknown as QuotaBounds
  const [account = '', prefix = ''] = name.split(' ')
  return { ...bounds, account, prefix }
}
