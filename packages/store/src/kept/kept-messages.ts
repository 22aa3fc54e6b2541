/**
 * The messages that topics keep: one ring for each topic that asks for it, bounded by age and bytes. A worker adds a
 * message when it dispatches it, before the job ends. An accepted message is therefore kept, however often workers
 * die. A ring is only a copy: it gives way when memory is short, and Redis may lose its latest writes in a failover.
 * The ring of a topic with an archive is more. It gets each message also when memory is full, as a lane does, and holds
 * the message until a block has it (archive/archives.ts).
 *
 * Rejected: writing at publish. A message that is dropped later because of its `Idempotency-Key` would be in the ring,
 * and each group of publishes would need a second write before it is acknowledged.
 */
import { parseMessageId, publishedAtOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { keptBodiesKey, messageKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../keys/shards.ts'
import { batch } from '../redis/batch.ts'
import { inTransaction } from '../redis/one-write.ts'
import { replies } from '../redis/pages.ts'
import type { ReplicaAcks } from '../redis/replica-acks.ts'
import { addScript, defineScript, readScript, runScript } from '../redis/scripts.ts'
import { isOutOfMemory, isScriptFault } from '../redis/storage-errors.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'
import { bodiesIn, type KeptJob, keepJobs, type NewKept } from './kept-jobs.ts'

const KEEP = readScript('keep-messages-1')
const KEEP_BODIES = readScript('keep-bodies-1')
const READ = readScript('read-kept-1')
const PAGE = readScript('page-kept-1')
const FIND = readScript('find-kept-1')

/** Rings of a shard in which a message is looked for by its id alone. Past it: further rings are not read. */
const RINGS_SEARCHED_MAX = 1_000
/** Bytes of one page that is read from a ring. Past it: the next page has the other messages. */
const KEPT_PAGE_BYTES_MAX = 1_048_576

/** Why a topic's ring does not have a message. */
export type NotKept = 'off' | 'tooOld' | 'ringFull' | 'absent'
const REASONS: readonly NotKept[] = ['off', 'tooOld', 'ringFull', 'absent']

interface KeptPage {
  /** Messages in the ring. */
  total: number
  /** Newest first. */
  bodies: Buffer[]
  /** Where the next page begins; null: the ring has no older message. */
  before: string | null
}

export class KeptMessages {
  readonly #redis: Redis
  readonly #acks: Pick<ReplicaAcks, 'confirm'> | undefined

  /** `acks`: waits for replicas that must have the messages of archives. */
  constructor(redis: Redis, acks?: Pick<ReplicaAcks, 'confirm'>) {
    this.#redis = redis
    this.#acks = acks
  }

  /** Adds messages to their topics' rings, with one transaction per topic. Safe to repeat. */
  async keep(messages: NewKept[]): Promise<void> {
    const byTopic = Map.groupBy(messages, ({ uid }) => uid)
    await Promise.all([...byTopic.values()].map((some) => this.#keepSome(some)))
    await this.#confirm(messages)
  }

  /** Adds jobs of one topic to its ring. Returns those whose messages must be kept one by one. Safe to repeat. */
  async keepJobs(jobs: KeptJob[]): Promise<KeptJob[]> {
    const divided = await keepJobs(this.#redis, jobs)
    await this.#confirm(jobs.flatMap(({ messages }) => messages[0] ?? []))
    return divided
  }

  /** Without this, a failover could lose a message that has already left its job. */
  async #confirm(messages: NewKept[]): Promise<void> {
    const archived = messages.filter(({ isArchived }) => isArchived)
    const shards = new Set(archived.map(({ arn }) => shardOf(arn)))
    await Promise.all([...shards].map((shard) => this.#acks?.confirm(shardBase(shard))))
  }

  /** Bodies are written without a script. Lua reads each byte of its arguments, and so takes longer than Redis. */
  async #keepSome(messages: NewKept[]): Promise<void> {
    const redis = this.#redis
    const [{ arn, uid } = { arn: '', uid: '' }] = messages
    const base = shardBase(shardOf(arn))
    const args = { base, arn, uid, entries: entriesOf(messages) }
    const bodies = messages.flatMap(({ id, body }) => [id, body])
    const hasArchived = messages.some(({ isArchived }) => isArchived)
    defineScript(redis, KEEP)
    try {
      await inTransaction(redis, (transaction) => [
        transaction.hset(keptBodiesKey(base, uid), ...bodies),
        addScript(redis, transaction, KEEP, args),
      ])
    } catch (error) {
      // The bodies are written, but the server has forgotten the script, or the script cannot read the ring.
      if (isUnknownScript(error)) return void (await runScript(redis, KEEP, args))
      if (isOutOfMemory(error) && hasArchived) {
        await runScript(redis, KEEP_BODIES, { base, arn, uid, bodies })
        return void (await runScript(redis, KEEP, args))
      }
      // Places of an archive may need these bodies already.
      if (isScriptFault(error) && !hasArchived)
        await redis.hdel(keptBodiesKey(base, uid), ...messages.map(({ id }) => id))
      throw error
    }
  }

  /** The stored message, or why the ring of its topic does not have it. */
  async read(topicArn: string, messageId: string): Promise<Buffer | NotKept> {
    const id = idOf(messageId)
    const args = { base: shardBase(shardOf(topicArn)), arn: topicArn, id }
    const reply = await runScript(this.#redis, READ, { ...args, publishedAt: publishedAtOf(messageId) })
    if (typeof reply === 'number') return REASONS[reply] ?? 'absent'
    const [body = ''] = Array.isArray(reply) ? bodiesIn(reply[0] as Buffer, id) : [reply as Buffer]
    return body.length > 0 ? Buffer.from(body) : 'absent'
  }

  /** The topic that keeps the message. null: no ring has it. Asks every shard, in one round trip. */
  async topicOf(messageId: string): Promise<string | null> {
    const id = idOf(messageId)
    const shards = Array.from({ length: SHARD_COUNT }, (_, shard) =>
      runScript(this.#redis, FIND, { base: shardBase(shard), id, ringsMax: RINGS_SEARCHED_MAX }),
    )
    const found = (await Promise.all(shards)).find((arn) => arn !== null)
    return found ? String(found) : null
  }

  /**
   * The stored message, if a lane or a FIFO log still holds it. `topicArn`: only in the topic's home shard, which has
   * all lanes of most topics.
   */
  async waiting(messageId: string, topicArn?: string): Promise<Buffer | null> {
    const pipeline = batch(this.#redis)
    const id = idOf(messageId)
    const everywhere = Array.from({ length: SHARD_COUNT }, (_, shard) => shard)
    for (const shard of topicArn === undefined ? everywhere : [shardOf(topicArn)])
      pipeline.hgetBuffer(messageKey(shardBase(shard), id), 'b')
    const found = (await replies(pipeline)) as (Buffer | null)[]
    return found.find((body) => body !== null) ?? null
  }

  /** A page of a topic's ring, newest first. null: the topic keeps no messages. */
  async page(
    topicArn: string,
    { before, messagesMax }: { before: string | null; messagesMax: number },
  ): Promise<KeptPage | null> {
    const reply = await runScript(this.#redis, PAGE, {
      base: shardBase(shardOf(topicArn)),
      arn: topicArn,
      before: before ?? '',
      messagesMax,
      bytesMax: KEPT_PAGE_BYTES_MAX,
    })
    if (reply === null) return null
    const [total, ...values] = reply as [number, ...Buffer[]]
    return { total, bodies: bodiesOf(values), before: values.length > 0 ? String(values.at(-3)) : null }
  }
}

/** Bodies of a page's places, newest first. Each place has a score, ids and a body (page-kept). */
function bodiesOf(values: Buffer[]): Buffer[] {
  const bodies: Buffer[] = []
  for (let i = 0; i < values.length; i += 3) {
    const [, ids, body] = values.slice(i, i + 3) as [Buffer, Buffer, Buffer]
    if (ids.length === 0) bodies.push(body)
    else
      bodies.push(
        ...bodiesIn(body, ids)
          .map((text) => Buffer.from(text))
          .reverse(),
      )
  }
  return bodies
}

const { PLACE_BYTES } = NUMBER

/** Ids and lengths of bodies, as the script reads them. */
function entriesOf(messages: readonly NewKept[]): Buffer {
  const entries = Buffer.allocUnsafe(PLACE_BYTES * messages.length)
  for (const [i, { id, body }] of messages.entries()) {
    entries.set(id, i * PLACE_BYTES)
    entries.writeUInt32BE(Buffer.byteLength(body), i * PLACE_BYTES + id.length)
  }
  return entries
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

function idOf(messageId: string): Buffer {
  const id = parseMessageId(messageId)
  if (id === undefined) throw new TypeError(`not a message id: ${messageId}`)
  return id
}
