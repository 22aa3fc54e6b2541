/**
 * Gathers claims of lanes whose attempter takes several deliveries in one request.
 *
 * A batch is sent when it is full by records or bytes, or when its first claim has waited for `lingerMs`. What waits
 * longer than leases allow keeps them by renewals. A lane may get as many claims as fit into the requests that it may
 * have in flight.
 */
import type { BatchLimits } from '@fantail/delivery'
import type { ClaimInHand } from '../lanes/claim-in-hand.ts'
import type { Renewals } from '../lanes/renewals.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { BatchAttempts, type BatchAttemptsOptions, type BatchedRecord, renderedBy } from './batch-attempts.ts'

/**
 * Age of a claim at which its lease is renewed. It is well below the time by which a lease is longer than an attempt.
 */
const RENEW_AFTER_MS = 1_000
/** @limit Lanes for which a worker asks for claims by the batch. Past it: the one that was least recently used. */
const BATCHED_LANES_MAX = 1_000

interface Gathering {
  subscription: CompiledSubscription
  limits: BatchLimits
  records: BatchedRecord[]
  sizeBytes: number
  /** By performance.now(). */
  sendAt: number
  timer: NodeJS.Timeout
  /** A renewal that is under way. It changes leases, so a request waits for it. */
  renewing: Promise<void>
}

interface LaneBatchesOptions extends BatchAttemptsOptions {
  renewals: Pick<Renewals, 'renew'>
}

interface BatchedLane {
  records: number
  maxInFlight: number
}

export class LaneBatches {
  readonly #options: LaneBatchesOptions
  readonly #attempts: BatchAttempts
  /** By subscription, as in `#lanes`. */
  readonly #gathering = new Map<string, Gathering>()
  readonly #lanes = new Map<string, BatchedLane>()
  #open = 0
  #closing = false
  #idle: (() => void)[] = []

  constructor(options: LaneBatchesOptions) {
    this.#options = options
    this.#attempts = new BatchAttempts(options, (hand) => this.#closed(hand))
  }

  /** Whether deliveries of this subscription are sent in batches. */
  takes(subscription: CompiledSubscription): boolean {
    return this.#attempts.batchingOf(subscription) !== undefined
  }

  /** Takes over a claim, which needs no slot of its own. */
  add(hand: ClaimInHand): void {
    this.#open++
    const { subscription } = hand
    const batching = this.#attempts.batchingOf(subscription)
    if (!batching || this.#closing) {
      this.#attempts.giveBack([{ hand, bytes: Buffer.alloc(0) }], { op: 'return' })
      return
    }
    hand.heldBy = hand.proven ? undefined : 'unprovenEndpoint'
    const bytes = renderedBy(batching, hand, subscription)
    const gathering = this.#roomFor(subscription, batching.limitsOf(subscription.target), bytes.length)
    gathering.records.push({ hand, bytes })
    gathering.sizeBytes += bytes.length
    if (isFull(gathering)) this.#send(gathering)
  }

  /**
   * Sets how many claims each of these lanes may get now: those of whole requests, without the claims already gathered.
   */
  limit(limits: Map<string, number>): void {
    for (const [id, { records, maxInFlight }] of this.#lanes) {
      const gathered = this.#gathering.get(id)?.records.length ?? 0
      limits.set(id, Math.max(0, this.#options.slots.capacity(id, maxInFlight) * records - gathered))
    }
  }

  /** Hands back claims that were not sent. Resolves when all others are settled. */
  async stop(): Promise<void> {
    this.#closing = true
    for (const gathering of [...this.#gathering.values()]) {
      this.#end(gathering)
      void gathering.renewing.then(() => this.#attempts.giveBack(gathering.records, { op: 'return' }))
    }
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #roomFor(subscription: CompiledSubscription, limits: BatchLimits, sizeBytes: number): Gathering {
    const { id } = subscription.record
    const known = this.#gathering.get(id)
    if (known && known.sizeBytes + sizeBytes <= known.limits.bytes) return known
    if (known) this.#send(known)
    this.#remember(subscription, limits)
    const gathering: Gathering = {
      subscription,
      limits,
      records: [],
      sizeBytes: 0,
      sendAt: performance.now() + limits.lingerMs,
      timer: setTimeout(() => this.#look(gathering), Math.min(limits.lingerMs, RENEW_AFTER_MS)),
      renewing: Promise.resolve(),
    }
    this.#gathering.set(id, gathering)
    return gathering
  }

  #remember({ record }: CompiledSubscription, { records }: BatchLimits): void {
    this.#lanes.delete(record.id)
    this.#lanes.set(record.id, { records, maxInFlight: record.maxInFlight })
    const [oldest] = this.#lanes.keys()
    if (oldest !== undefined && this.#lanes.size > BATCHED_LANES_MAX) this.#lanes.delete(oldest)
  }

  #look(gathering: Gathering): void {
    const leftMs = gathering.sendAt - performance.now()
    if (leftMs <= 0) {
      this.#send(gathering)
      return
    }
    gathering.renewing = this.#renew(gathering)
    gathering.timer = setTimeout(() => this.#look(gathering), Math.min(leftMs, RENEW_AFTER_MS))
  }

  #send(gathering: Gathering): void {
    this.#end(gathering)
    const isOld = gathering.sendAt - gathering.limits.lingerMs < performance.now() - RENEW_AFTER_MS
    void gathering.renewing
      .then(() => (isOld ? this.#renew(gathering) : undefined))
      .then(() => this.#attempts.attempt(gathering.records))
  }

  #end(gathering: Gathering): void {
    clearTimeout(gathering.timer)
    const { id } = gathering.subscription.record
    if (this.#gathering.get(id) === gathering) this.#gathering.delete(id)
  }

  /** Hands back claims that are not ours any more, or whose lane was paused or deleted meanwhile. */
  async #renew(gathering: Gathering): Promise<void> {
    const { subscription } = gathering
    const asked = [...gathering.records]
    const { id: subscriptionId } = subscription.record
    const claims = asked.map(({ hand }) => ({ ...hand.claim, sendAt: null }))
    const renewed = await this.#options.renewals.renew(subscription.shard, {
      subscriptionId,
      leadMs: 0,
      claims,
    })
    const lost = new Set<BatchedRecord>()
    asked.forEach((record, i) => {
      const { lease, sendAt = null } = renewed[i] ?? {}
      if (lease === undefined || sendAt === null) lost.add(record)
      else record.hand.claim = { ...record.hand.claim, lease }
    })
    if (lost.size === 0) return
    gathering.records = gathering.records.filter((record) => !lost.has(record))
    this.#attempts.giveBack([...lost], { op: 'return' })
  }

  #closed(hand: ClaimInHand): void {
    hand.held?.release()
    this.#open--
    if (this.#closing && this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function isFull({ records, sizeBytes, limits }: Gathering): boolean {
  return records.length >= limits.records || sizeBytes >= limits.bytes
}
