/**
 * Gathers claims of lanes whose attempter takes several deliveries in one request.
 *
 * A batch is sent when it is full by records or bytes, or when its first claim has waited for `lingerMs`. If claims
 * wait longer than their leases last, the leases are renewed. A lane may get as many claims as fit into the requests
 * that it may have in flight. An attempt that probes an endpoint or a credential is sent without waiting for others.
 *
 * Requests to an unproven endpoint have one record each until one is answered, however late. After that, they have as
 * many records as other requests. Otherwise an endpoint that needs more than a second for each request would always get
 * requests with one record.
 */
import type { BatchLimits } from '@fantail/delivery'
import { type PassingTimer, passingTime } from '@fantail/store'
import { bytesOf } from '../bodies/body-bytes.ts'
import type { BatchedClaim } from '../claims/open-claims.ts'
import { RENEWED_LEASE_MARGIN_MS, type Renewals } from '../claims/renewals.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import {
  BatchAttempts,
  type BatchAttemptsOptions,
  type BatchedRecord,
  claimsOf,
  renderedBy,
} from './batch-attempts.ts'

/**
 * If a batch is older than this when it is sent, its leases are renewed first. A renewed lease lasts longer than an
 * attempt by RENEWED_LEASE_MARGIN_MS, and the lease of a take by LEASE_MARGIN_MS and SEND_AHEAD_MS.
 */
const UNRENEWED_MS = 1_000
/**
 * This is a quarter of the bytes for all attempts of lanes. Even if batches wait long, they leave enough bytes for
 * other attempts.
 * @limit memory (part of BODY_BYTES_MAX) Bytes of messages that wait in batches for more, counted as four bytes per
 * character. Past it: the largest batch is sent.
 */
const GATHERED_BYTES_MAX = 33_554_432
/** Lanes whose claims a worker requests by the batch. Past it: the least recently used one is forgotten. */
const BATCHED_LANES_MAX = 1_000

interface Gathering {
  subscription: CompiledSubscription
  limits: BatchLimits
  records: BatchedRecord[]
  sizeBytes: number
  /** Bytes that the messages of the batch take in memory. */
  heldBytes: number
  /** By passingTime.now(), like `sendAt`. */
  beganAt: number
  sendAt: number
  timer: PassingTimer
  /** Resolves when no renewal of leases is running. A request waits for that, because a renewal changes the leases. */
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
  /** Whether its latest request was answered, however late. */
  isAnswered: boolean
  /** Requests that are about to take their slot. */
  starting: number
}

export class LaneBatches {
  readonly #options: LaneBatchesOptions
  readonly #attempts: BatchAttempts
  /** By subscription, like `#lanes`. */
  readonly #gathering = new Map<string, Gathering>()
  readonly #lanes = new Map<string, BatchedLane>()
  #heldBytes = 0
  #open = 0
  #closing = false
  #idle: (() => void)[] = []

  constructor(options: LaneBatchesOptions) {
    this.#options = options
    this.#attempts = new BatchAttempts(options, {
      closed: (claim) => this.#closed(claim),
      ended: (id, isAnswered) => this.#ended(id, isAnswered),
    })
  }

  /** Whether deliveries of this subscription are sent in batches. */
  takes(subscription: CompiledSubscription): boolean {
    return this.#attempts.batchingOf(subscription) !== undefined
  }

  /** Adds a claim to the batch of its lane. The claim needs no slot of its own. */
  add(claim: BatchedClaim): void {
    this.#open++
    const { subscription } = claim
    const batching = this.#attempts.batchingOf(subscription)
    if (!batching || this.#closing) {
      this.#attempts.returnToLane([claim], { op: 'returnToLane' })
      return
    }
    const bytes = renderedBy(batching, claim, subscription)
    const gathering = this.#roomFor(claim, batching.limitsOf(subscription.target), bytes.length)
    const heldBytes = bytesOf(claim.context)
    gathering.records.push({ claim, bytes })
    gathering.sizeBytes += bytes.length
    gathering.heldBytes += heldBytes
    this.#heldBytes += heldBytes
    if (isFull(gathering)) this.#send(gathering)
    else if (this.#heldBytes > (this.#options.gatheredBytesMax ?? GATHERED_BYTES_MAX)) this.#sendLargest()
  }

  /**
   * Sets how many claims each of these lanes may get now: as many as fit into its requests, minus the claims that are
   * already gathered.
   */
  limit(limits: Map<string, number>): void {
    const { slots } = this.#options
    for (const [id, lane] of this.#lanes) {
      const gathered = this.#gathering.get(id)?.records.length ?? 0
      const requests = slots.capacity(id, lane.maxInFlight) - lane.starting
      limits.set(id, Math.max(0, requests * this.#recordsOf(id, lane) - gathered))
    }
  }

  /** The claims that lanes of unproven endpoints get at a time. Undefined: one each. */
  unprovenClaims(): ReadonlyMap<string, number> | undefined {
    let claims: Map<string, number> | undefined
    for (const [id, lane] of this.#lanes) {
      if (lane.isAnswered && !this.#options.slots.isProven(id))
        claims = (claims ?? new Map()).set(id, lane.records)
    }
    return claims
  }

  /** Number of claims that are rendered, sent or settled. The others wait in batches for more. */
  get busy(): number {
    const waiting = [...this.#gathering.values()].map(({ records }) => records.length)
    return waiting.reduce((busy, records) => busy - records, this.#open)
  }

  /** Returns unsent claims to their lanes. Resolves when all other claims are settled. */
  async stop(): Promise<void> {
    this.#closing = true
    for (const gathering of [...this.#gathering.values()]) {
      this.#end(gathering)
      void gathering.renewing.then(() =>
        this.#attempts.returnToLane(claimsOf(gathering.records), { op: 'returnToLane' }),
      )
    }
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #roomFor(claim: BatchedClaim, limits: BatchLimits, sizeBytes: number): Gathering {
    const { subscription } = claim
    const { id } = subscription.record
    const known = this.#gathering.get(id)
    if (known && known.sizeBytes + sizeBytes <= known.limits.bytes) return known
    if (known) this.#send(known)
    this.#remember(subscription, limits)
    const beganAt = passingTime.now()
    const lingerMs = claim.proven && claim.blockedBy === undefined ? limits.lingerMs : 0
    const gathering: Gathering = {
      subscription,
      limits,
      records: [],
      sizeBytes: 0,
      heldBytes: 0,
      beganAt,
      sendAt: beganAt + lingerMs,
      timer: passingTime.after(Math.min(lingerMs, this.#renewEveryMs), () => this.#sendOrRenew(gathering)),
      renewing: Promise.resolve(),
    }
    this.#gathering.set(id, gathering)
    return gathering
  }

  #remember({ record }: CompiledSubscription, { records }: BatchLimits): void {
    const { isAnswered = false, starting = 0 } = this.#lanes.get(record.id) ?? {}
    this.#lanes.delete(record.id)
    this.#lanes.set(record.id, { records, maxInFlight: record.maxInFlight, isAnswered, starting })
    const [oldest] = this.#lanes.keys()
    if (oldest !== undefined && this.#lanes.size > BATCHED_LANES_MAX) this.#lanes.delete(oldest)
  }

  #sendOrRenew(gathering: Gathering): void {
    const leftMs = gathering.sendAt - passingTime.now()
    if (leftMs <= 0) {
      this.#send(gathering)
      return
    }
    gathering.renewing = this.#renew(gathering)
    gathering.timer = passingTime.after(Math.min(leftMs, this.#renewEveryMs), () =>
      this.#sendOrRenew(gathering),
    )
  }

  /** Half of the shortest time that a renewed lease lasts. */
  get #renewEveryMs(): number {
    return (this.#options.attemptTimeoutMs + RENEWED_LEASE_MARGIN_MS) / 2
  }

  #sendLargest(): void {
    const [first, ...others] = this.#gathering.values()
    if (first) this.#send(others.reduce((a, b) => (b.heldBytes > a.heldBytes ? b : a), first))
  }

  #send(gathering: Gathering): void {
    this.#end(gathering)
    this.#start(gathering, 1)
    const isOld = gathering.beganAt < passingTime.now() - UNRENEWED_MS
    void gathering.renewing
      .then(() => (isOld ? this.#renew(gathering) : undefined))
      .then(() => this.#attempts.attempt(gathering.records))
      .finally(() => this.#start(gathering, -1))
  }

  #start({ subscription }: Gathering, by: 1 | -1): void {
    const lane = this.#lanes.get(subscription.record.id)
    if (lane) lane.starting = Math.max(0, lane.starting + by)
  }

  /** Records of one request. */
  #recordsOf(id: string, { records, isAnswered }: BatchedLane): number {
    return isAnswered || this.#options.slots.isProven(id) ? records : 1
  }

  #end(gathering: Gathering): void {
    gathering.timer.cancel()
    const { id } = gathering.subscription.record
    if (this.#gathering.get(id) === gathering) this.#gathering.delete(id)
    this.#heldBytes -= gathering.heldBytes
  }

  /**
   * Renews the leases of the batch. Drops claims that this worker has lost, and claims whose lane was paused or deleted
   * meanwhile.
   */
  async #renew(gathering: Gathering): Promise<void> {
    const { subscription } = gathering
    const asked = [...gathering.records]
    if (asked.length === 0) return
    const { id: subscriptionId } = subscription.record
    const claims = asked.map(({ claim: { delivery, lease } }) => ({ delivery, lease, sendAt: null }))
    const renewed = await this.#options.renewals.renew(subscription.shard, {
      subscriptionId,
      leadMs: 0,
      claims,
    })
    const lost = new Set<BatchedRecord>()
    asked.forEach((record, i) => {
      const { lease, sendAt = null } = renewed[i] ?? {}
      if (lease === undefined || sendAt === null) lost.add(record)
      else record.claim.lease = lease
    })
    if (lost.size === 0) return
    gathering.records = gathering.records.filter((record) => !lost.has(record))
    this.#attempts.returnToLane(claimsOf([...lost]), { op: 'returnToLane' })
  }

  #ended(id: string, isAnswered: boolean): void {
    const lane = this.#lanes.get(id)
    if (lane) lane.isAnswered = isAnswered
  }

  #closed(claim: BatchedClaim): void {
    claim.bodies.release()
    this.#open--
    if (this.#closing && this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function isFull({ records, sizeBytes, limits }: Gathering): boolean {
  return records.length >= limits.records || sizeBytes >= limits.bytes
}
