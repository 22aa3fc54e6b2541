/**
 * Sends several deliveries of a lane in one request. The request uses one slot, and counts as hanging from its start.
 * Each record has its own result, by which its delivery is settled.
 */
import type { AttemptResult } from '@fantail/contracts'
import type { Attempters, Batching } from '@fantail/delivery'
import { retryCost } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { SettleTo, Standing } from '@fantail/store'
import { type Span, type Spans, traceparentOf } from '@fantail/telemetry'
import { endSpan, type Outcome, outcomeOf, PROVIDER_RESPONSE_BYTES_MAX } from '../attempts/attempt-outcome.ts'
import type { CredentialGate } from '../attempts/credential-gate.ts'
import type { WorkerMetrics } from '../attempts/worker-metrics.ts'
import { type AttemptSlots, HUNG_MS } from '../capacity/attempt-slots.ts'
import type { CapacityAnnouncer } from '../capacity/freed-capacity.ts'
import { type BatchedClaim, claimedOf, endedBy } from '../claims/open-claims.ts'
import type { Endings } from '../endings/endings.ts'
import type { LaneSource } from '../endings/lane-source.ts'
import type { LanePacing } from '../settling/lane-pacing.ts'
import type { Settling } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { currentOf } from '../topics/current-subscription.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'

/** A batch that finds no free slot waits in its lane for this time. */
const REFUSED_BATCH_MS = 250

export interface BatchedRecord {
  claim: BatchedClaim
  bytes: Buffer
}

export interface BatchAttemptsOptions {
  attempters: Attempters
  endings: Pick<Endings, 'end'>
  laneSource: LaneSource
  settling: Pick<Settling, 'settle'>
  pacing: Pick<LanePacing, 'unsent'>
  credentials: Pick<CredentialGate, 'admit' | 'ended'>
  slots: AttemptSlots
  freed: CapacityAnnouncer
  snapshots: Pick<SnapshotCache, 'sliceForClaim'>
  metrics: Pick<WorkerMetrics, 'attempted'>
  spans: Spans
  log: Logger
}

interface BatchEvents {
  /** The claim is settled or returned. */
  closed(claim: BatchedClaim): void
  /** A request has ended. Called before its slot is free. */
  ended(subscriptionId: string, isAnswered: boolean): void
}

export class BatchAttempts {
  readonly #options: BatchAttemptsOptions
  readonly #events: BatchEvents

  constructor(options: BatchAttemptsOptions, events: BatchEvents) {
    this.#options = options
    this.#events = events
  }

  batchingOf({ record }: CompiledSubscription): Batching | undefined {
    return this.#options.attempters[record.protocol].batching
  }

  async attempt(records: readonly BatchedRecord[]): Promise<void> {
    const [first] = records
    if (!first) return
    const { slots, credentials } = this.#options
    const current = await currentOf(first.claim, this.#options)
    const batching = current && this.batchingOf(current)
    if (!current || !batching) return this.returnToLane(claimsOf(records), { op: 'returnToLane' })
    const { id, maxInFlight } = current.record
    if (!slots.acquire(id, maxInFlight))
      return this.returnToLane(claimsOf(records), { op: 'returnToLane', delayMs: REFUSED_BATCH_MS })
    const asked = credentials.admit(current, first.claim.blockedBy)
    const wait = asked && (await asked)
    if (!wait) return this.#request(current, batching, records)
    this.#release(current, undefined)
    const { credential, waitMs: delayMs } = wait
    this.returnToLane(claimsOf(records), { op: 'block', delayMs, credential })
  }

  /** Returns claims to the lane. No attempt of them was made. */
  returnToLane(claims: readonly BatchedClaim[], to: SettleTo): void {
    const { pacing, settling } = this.#options
    for (const claim of claims) {
      const { subscription, retry } = claim
      const { shard, paced, record } = subscription
      if (paced) pacing.unsent(shard, record.id, retryCost(retry))
      void settling.settle(shard, claimedOf(subscription, claim), to).then(() => this.#events.closed(claim))
    }
  }

  #request(current: CompiledSubscription, batching: Batching, records: readonly BatchedRecord[]): void {
    const { target, statusLog } = current
    const hung = setTimeout(() => this.#hang(current, records), HUNG_MS)
    const span = this.#startSpan(current, records)
    const batch = {
      target,
      records: records.map((record) => ({
        bytes: bytesFor(record, current, batching),
        delivery: record.claim.delivery,
      })),
      traceparent: span && traceparentOf(span),
      textBytesMax: statusLog && PROVIDER_RESPONSE_BYTES_MAX,
    }
    batching.attempt(batch, (results) => {
      clearTimeout(hung)
      const outcomes = records.map((_, i) => outcomeOf(results[i] ?? MISSING))
      if (span) endSpan(span, tellingOf(outcomes))
      const answeredMs = answeredAfterMs(outcomes)
      this.#events.ended(current.record.id, answeredMs !== undefined)
      this.#release(current, answeredMs)
      this.#options.credentials.ended(current, tellingOf(outcomes))
      this.#finish(current, records, outcomes)
    })
  }

  #finish(current: CompiledSubscription, records: readonly BatchedRecord[], outcomes: Outcome[]): void {
    const { metrics, endings, laneSource } = this.#options
    records.forEach(({ claim }, i) => {
      const outcome = outcomes[i] ?? outcomeOf(MISSING)
      metrics.attempted(current, claim.context, outcome, outcome.result.durationMs)
      const end = endedBy(claim, current, this.#standingOf(claim))
      void Promise.resolve(endings.end(laneSource, end, outcome)).then(() => this.#events.closed(claim))
    })
  }

  #startSpan({ record }: CompiledSubscription, records: readonly BatchedRecord[]): Span | undefined {
    if (!this.#options.spans.on) return undefined
    const attributes = { 'fantail.subscription': record.id, 'fantail.records': records.length }
    return this.#options.spans.start('attempt', { attributes })
  }

  /**
   * Called when the request has had no answer for a second. Does the same as for a single attempt (claim-attempts.ts).
   */
  #hang({ record, shard }: CompiledSubscription, records: readonly BatchedRecord[]): void {
    const { slots, settling, freed } = this.#options
    slots.hang(record.id)
    for (const { claim } of records) claim.bodies.hang()
    const [first] = records
    if (first?.claim.proven) {
      const claimed = { ...claimedOf(first.claim.subscription, first.claim), standing: 'unproven' } as const
      void settling.settle(shard, claimed, { op: 'continueClaim' })
    }
    for (const { claim } of records) claim.proven = false
    freed.announce()
  }

  #standingOf({ subscription, proven }: BatchedClaim): Standing | undefined {
    const isProven = this.#options.slots.isProven(subscription.record.id)
    if (isProven === proven) return undefined
    return isProven ? 'proven' : 'unproven'
  }

  #release({ record }: CompiledSubscription, answeredMs: number | undefined): void {
    this.#options.slots.release(record.id, record.maxInFlight, answeredMs)
    this.#options.freed.announce()
  }
}

/** The attempter returned no result for a record. The request may nevertheless have delivered it. */
const MISSING: AttemptResult = {
  kind: 'failure',
  error: 'invalid_response',
  detail: 'the answer says nothing of this record',
  durationMs: 0,
  permanent: false,
}

/** The bytes of the record. They are rendered again if the settings have changed since they were made. */
function bytesFor(
  { claim, bytes }: BatchedRecord,
  current: CompiledSubscription,
  batching: Batching,
): Buffer {
  return current === claim.subscription ? bytes : renderedBy(batching, claim, current)
}

export function claimsOf(records: readonly BatchedRecord[]): BatchedClaim[] {
  return records.map(({ claim }) => claim)
}

export function renderedBy(
  batching: Batching,
  { context, delivery }: BatchedClaim,
  { target }: CompiledSubscription,
): Buffer {
  return batching.render({ envelope: context.envelopeFor(undefined), delivery }, target)
}

/**
 * The result that says most about the whole request: it shows that a credential or setting is broken, or that the
 * endpoint answered.
 */
function tellingOf(outcomes: readonly Outcome[]): AttemptResult {
  const results = outcomes.map(({ result }) => result)
  const broken = results.find(({ kind }) => kind === 'misconfigured')
  return broken ?? results.find(({ kind }) => kind === 'response') ?? results[0] ?? MISSING
}

function answeredAfterMs(outcomes: readonly Outcome[]): number | undefined {
  return outcomes.find((outcome) => outcome.answeredAfterMs !== undefined)?.answeredAfterMs
}
