/**
 * Gathers claims of lanes whose attempter takes several deliveries in one request.
 *
 * A batch is sent when it is full by records or bytes, or when its first claim has waited for `lingerMs`. If claims
 * wait longer than their leases last, the leases are renewed. A lane may get as many claims as fit into the requests
 * that it may have in flight. An attempt that probes an endpoint or a credential is sent without waiting for others.
 */
import type { BatchLimits } from '@fantail/delivery'
import { bytesOf } from '../attempts/body-bytes.ts'
import type { ClaimInHand } from '../lanes/claim-in-hand.ts'
import { RENEWED_LEASE_MARGIN_MS, type Renewals } from '../lanes/renewals.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { BatchAttempts, type BatchAttemptsOptions, type BatchedRecord, renderedBy } from './batch-attempts.ts'

/** How old a claim may be when it is sent, if its lease is not renewed before. A lease lasts 2 s beyond an attempt. */
const UNRENEWED_MS = 1_000
/**
 * A quarter of what all attempts of lanes may hold, so that batches that wait long leave the others their bytes.
 * @limit memory Bytes of messages that wait in batches for more, counted as four bytes per character. Past it: the
 * largest batch is sent.
 */
const GATHERED_BYTES_MAX = 33_554_432
/** @limit Lanes for which a worker asks for claims by the batch. Past it: the one that was least recently used. */
const BATCHED_LANES_MAX = 1_000

interface Gathering {
  subscription: CompiledSubscription
  limits: BatchLimits
  records: BatchedRecord[]
  sizeBytes: number
  /** What its messages take in memory. */
  heldBytes: number
  /** By performance.now(), as `sendAt`. */
  beganAt: number
  sendAt: number
  timer: NodeJS.Timeout
  /** A renewal that is under way. It changes leases, so a request waits for it. */
  renewing: Promise<void>
}

interface LaneBatchesOptions extends BatchAttemptsOptions {
  renewals: Pick<Renewals, 'renew'>
  attemptTimeoutMs: number
  /** Default: GATHERED_BYTES_MAX. */
  gatheredBytesMax?: number
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
  #heldBytes = 0
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
    const gathering = this.#roomFor(hand, batching.limitsOf(subscription.target), bytes.length)
    const heldBytes = bytesOf(hand.message)
    gathering.records.push({ hand, bytes })
    gathering.sizeBytes += bytes.length
    gathering.heldBytes += heldBytes
    this.#heldBytes += heldBytes
    if (isFull(gathering)) this.#send(gathering)
    else if (this.#heldBytes > (this.#options.gatheredBytesMax ?? GATHERED_BYTES_MAX)) this.#sendLargest()
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

  #roomFor(hand: ClaimInHand, limits: BatchLimits, sizeBytes: number): Gathering {
    const { subscription } = hand
    const { id } = subscription.record
    const known = this.#gathering.get(id)
    if (known && known.sizeBytes + sizeBytes <= known.limits.bytes) return known
    if (known) this.#send(known)
    this.#remember(subscription, limits)
    const beganAt = performance.now()
    const lingerMs = hand.proven && hand.standsFor === undefined ? limits.lingerMs : 0
    const gathering: Gathering = {
      subscription,
      limits,
      records: [],
      sizeBytes: 0,
      heldBytes: 0,
      beganAt,
      sendAt: beganAt + lingerMs,
      timer: setTimeout(() => this.#look(gathering), Math.min(lingerMs, this.#renewEveryMs)),
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
    gathering.timer = setTimeout(() => this.#look(gathering), Math.min(leftMs, this.#renewEveryMs))
  }

  /** Half of what a renewed lease lasts at least. */
  get #renewEveryMs(): number {
    return (this.#options.attemptTimeoutMs + RENEWED_LEASE_MARGIN_MS) / 2
  }

  #sendLargest(): void {
    const [first, ...others] = this.#gathering.values()
    if (first) this.#send(others.reduce((a, b) => (b.heldBytes > a.heldBytes ? b : a), first))
  }

  #send(gathering: Gathering): void {
    this.#end(gathering)
    const isOld = gathering.beganAt < performance.now() - UNRENEWED_MS
    void gathering.renewing
      .then(() => (isOld ? this.#renew(gathering) : undefined))
      .then(() => this.#attempts.attempt(gathering.records))
  }

  #end(gathering: Gathering): void {
    clearTimeout(gathering.timer)
    const { id } = gathering.subscription.record
    if (this.#gathering.get(id) === gathering) this.#gathering.delete(id)
    this.#heldBytes -= gathering.heldBytes
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
