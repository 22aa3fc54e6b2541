/**
 * Bounds the bytes of the queues that topics make for their dead letters: one share of Redis's memory for each, and one
 * for all of them together. Each script that stores a letter keeps its queue within the first bound. All queues
 * together are checked once a second while letters come, by one process at a time. Past their share, the largest queue
 * loses its oldest letters. Behind a distant Redis, two processes may check with the same figures. A queue is therefore
 * trimmed to a size, and trimming it again removes nothing.
 *
 * Rejected: to remove the oldest letter of all queues. Suppose that a dead endpoint makes letters at full rate. Its
 * letters are the newest, so everybody else's would be removed first.
 */
import { parseArn, parseMessageId } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { ASSUMED_MEMORY_BYTES, type MemorySample } from '../../capacity/storage-guard.ts'
import { letterBytesKey } from '../../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../../keys/shards.ts'
import { deliveryId } from '../../lanes/records/generations.ts'
import { masterOfShard } from '../../redis/connections/cluster.ts'
import { takeRole } from '../../redis/leader.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import { deadLetterItemId } from '../items/queue-ids.ts'

/**
 * Dead letters that were removed because the bytes were used up, in the form in which scripts return them
 * (letter-quota.lua).
 */
const VALUES = 4
/** Redrives after which the delivery of a removed letter is still found. Past it: its row stays deadLettered. */
const REDRIVES_KNOWN_MAX = 100

export interface RemovedLetter {
  subscriptionId: string
  /** The delivery whose failure made the letter. */
  delivery: Buffer
  statusCode: number | null
}

export function readRemoved(values: Buffer[]): RemovedLetter[] {
  const letters: RemovedLetter[] = []
  for (let at = 0; at < values.length; at += VALUES) {
    const [id = '', arn = '', messageId = '', status = ''] = values.slice(at, at + VALUES).map(String)
    const subscriptionId = parseArn(arn)?.subscriptionId
    const delivery = subscriptionId && deliveryOf(id, subscriptionId, messageId)
    if (delivery)
      letters.push({ subscriptionId, delivery, statusCode: status === '' ? null : Number(status) })
  }
  return letters
}

/** A letter does not store how often it was redriven, but the delivery follows from the letter's id. */
function deliveryOf(id: string, subscriptionId: string, messageId: string): Buffer | undefined {
  if (!parseMessageId(messageId)) return undefined
  for (let generation = 0; generation <= REDRIVES_KNOWN_MAX; generation++) {
    const delivery = deliveryId(messageId, generation)
    if (deadLetterItemId(subscriptionId, delivery) === id) return delivery
  }
  return undefined
}

const TRIM = readScript('trim-letters-1')

const CHECK_EVERY_MS = 1_000
/** Scripts that one check of a master's queues runs. Past it: the next check continues. */
const TRIMS_PER_CHECK_MAX = 2_000

export interface LetterShares {
  /** A topic's queue, as a share of Redis's memory (0 to 1). */
  perQueue: number
  /** All of them together. On a cluster: the queues of one master. */
  together: number
}

interface LetterQuotaOptions {
  redis: Redis
  shares: LetterShares
  /** The latest sample, if there is one. */
  sample(): MemorySample | undefined
  /**
   * Called when messages of this topic's queue were removed to make space for others. `letters`: the removed messages
   * that were dead letters.
   */
  onRemoved(topicArn: string, removed: number, letters: RemovedLetter[]): void
  onProblem(error: unknown): void
  /** Monotonic ms. */
  now?: () => number
}

interface Filled {
  arn: string
  bytes: number
}

export class LetterQuota {
  readonly #options: LetterQuotaOptions
  readonly #now: () => number
  #checkedAt = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined

  constructor(options: LetterQuotaOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** The most bytes that one topic's queue may fill. */
  get queueBytes(): number {
    return this.#options.shares.perQueue * this.#memoryBytes
  }

  get #memoryBytes(): number {
    const limit = this.#options.sample()?.limitBytes ?? Number.POSITIVE_INFINITY
    return Number.isFinite(limit) ? limit : ASSUMED_MEMORY_BYTES
  }

  /** Called after a letter was stored. Checks the sum of all queues, unless it was checked a moment ago. */
  stored(): void {
    if (this.#checking || this.#now() - this.#checkedAt < CHECK_EVERY_MS) return
    this.#checkedAt = this.#now()
    this.#checking = this.#check()
      .catch((error) => this.#options.onProblem(error))
      .finally(() => {
        this.#checking = undefined
      })
  }

  async whenIdle(): Promise<void> {
    await this.#checking
  }

  async #check(): Promise<void> {
    const { redis, shares } = this.#options
    if (!(await takeRole(redis, 'letter-quota', CHECK_EVERY_MS))) return
    const bytesMax = shares.together * this.#memoryBytes
    for (const queues of (await filledQueues(redis)).values()) {
      let over = queues.reduce((sum, { bytes }) => sum + bytes, 0) - bytesMax
      for (let trims = 0; over > 0 && trims < TRIMS_PER_CHECK_MAX; trims++) {
        const { freed, removed } = await this.#trimLargest(queues, over)
        if (freed <= 0 && removed === 0) break
        over -= freed
      }
    }
  }

  /**
   * Makes the largest queue at most as small as the second largest, so that the largest queues shrink equally. `freed`
   * is negative if the queue has grown by more since its bytes were read.
   */
  async #trimLargest(queues: Filled[], over: number): Promise<{ freed: number; removed: number }> {
    const [largest, second] = queues.sort((a, b) => b.bytes - a.bytes)
    if (!largest) return { freed: 0, removed: 0 }
    const wanted = Math.ceil(
      Math.min(over, Math.max(largest.bytes - (second?.bytes ?? 0), over / queues.length)),
    )
    const reply = await runScript(this.#options.redis, TRIM, {
      base: shardBase(shardOf(largest.arn)),
      arn: largest.arn,
      bytesMax: largest.bytes - wanted,
    })
    const [removed, left, topicArn, letters] = reply as [number, number, Buffer, Buffer[]]
    const freed = largest.bytes - left
    largest.bytes = left
    if (removed > 0) this.#options.onRemoved(String(topicArn), removed, readRemoved(letters))
    return { freed, removed }
  }
}

/** Queues by master, because each master has its own memory. */
async function filledQueues(redis: Redis): Promise<Map<string, Filled[]>> {
  const hashes = await Promise.all(
    Array.from({ length: SHARD_COUNT }, (_, shard) => redis.hgetall(letterBytesKey(shardBase(shard)))),
  )
  const masters = new Map<string, Filled[]>()
  for (const [shard, hash] of hashes.entries()) {
    const master = masterOfShard(redis, shard)
    const queues = masters.get(master) ?? []
    masters.set(master, queues)
    for (const [arn, bytes] of Object.entries(hash)) queues.push({ arn, bytes: Number(bytes) })
  }
  return masters
}
