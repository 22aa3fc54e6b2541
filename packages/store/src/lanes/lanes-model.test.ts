/**
 * Random histories of parks, takes, settlements (also stale ones), crashes, pauses, deletions, purges and clock jumps.
 * After every step Redis equals the model, and every lane is due when it should be. Every body's count equals its
 * references. Parked deliveries equal those waiting, in flight and ended.
 */
import { freshKey, leaseKey, RANDOM_TIMEOUT_MS, retryKey, skewKey, stateKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as keys from '../keys/keys.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'
import {
  BASE,
  changeLane,
  claimsOf,
  keysLeft,
  makeMessage,
  SHARD,
  SLICE,
  storedMessages,
  takeFrom,
  writeLane,
  writeSlice,
} from './lane.fixture.ts'
import { Lanes } from './lanes.ts'
import {
  DEAD_LEASE_MS,
  type Entry,
  holdsAfterHistories,
  type LaneModel,
  LEASE_MS,
  Model,
  RETENTION_SECONDS,
  STEP_MS,
  storedState,
} from './lanes-model.fixture.ts'
import type { DeadState, ParkAs, RetryState, SettleTo, Standing, TakeResult } from './records/lane-records.ts'

const { redis } = await useRedis()
const lanes = new Lanes(redis)

const { FULL_MS } = NUMBER
/**
 * A throttled lane is due at least this long before its send time. The due time is within 200 ms of it, on a grid of
 * 100 ms (lane-next.lua).
 */
const AHEAD_MS_MIN = 100
const LANES: LaneModel[] = [
  { maxInFlight: 32, rate: null, deadLetters: false, proven: true },
  { maxInFlight: 32, rate: null, deadLetters: true, proven: false },
  { maxInFlight: 2, rate: null, deadLetters: false, proven: false },
  { maxInFlight: 32, rate: 5, deadLetters: true, proven: true },
  { maxInFlight: 32, rate: null, groupRates: '5\tb=1\t', deadLetters: false, proven: true },
].map((settings, i) => ({ ...settings, id: `lane-${i}`, paused: false, gone: false }))
/** Groups of the messages, in turn. */
const GROUPS = [undefined, 'a', 'b']
/** Deliveries that wait for their group have a score from here on, a multiple of SHELF_SPAN above their due time. */
const [SHELVED_FROM, SHELF_SPAN, SHELF_EPOCH] = [8 * 2 ** 40, 2 ** 40, 1_500_000_000_000]

const FAILED: RetryState = { kind: 'retry', attempts: 1, statusCode: 500, error: null }
const DECIDED = { cause: 'backoff', delayMs: 45_000 } as const
const ASKED_NOW = { cause: 'retryNow', delayMs: null } as const
const TOPIC_UID = SLICE.slice(0, SLICE.indexOf('.'))
const DEAD: DeadState = { kind: 'dead', cause: 'permanent', attempts: 1, statusCode: 410, error: null }
const PARKS: ParkAs[] = [
  { as: 'fresh' },
  { as: 'fresh' },
  { as: 'retry', delayMs: 5_000, state: FAILED },
  { as: 'retry', delayMs: 45_000, state: { ...FAILED, why: DECIDED } },
  { as: 'dead', state: DEAD },
  { as: 'detached', leaseMs: LEASE_MS },
]
const OUTCOMES: SettleTo[] = [
  { op: 'delivered' },
  { op: 'retry', delayMs: 15_000, state: { ...FAILED, attempts: 2 } },
  { op: 'returnToLane' },
  { op: 'returnToLane', delayMs: 15_000 },
  { op: 'returnUncounted' },
  { op: 'declareDead', leaseMs: DEAD_LEASE_MS, state: DEAD },
  { op: 'deadLettered' },
  { op: 'discard', cause: 'permanent' },
  { op: 'quarantined' },
  { op: 'continueClaim' },
]
const standing = fc.constantFrom<Standing | undefined>(undefined, undefined, 'proven', 'unproven')

const laneIndex = fc.nat({ max: LANES.length - 1 })
const operation = fc.oneof(
  fc.record({
    do: fc.constant('park' as const),
    lanes: fc.uniqueArray(laneIndex, { minLength: 1 }),
    as: fc.constantFrom(...PARKS),
    message: fc.nat({ max: 8 }),
    standing,
  }),
  fc.record({
    do: fc.constant('take' as const),
    limit: fc.constantFrom(undefined, undefined, 0, 1),
    deliveriesMax: fc.constantFrom(2, 500),
    unprovenMax: fc.constantFrom(0, 2, 500),
  }),
  fc.record({
    do: fc.constant('settle' as const),
    claims: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
    to: fc.constantFrom(...OUTCOMES),
    standing,
  }),
  fc.record({ do: fc.constant('jump' as const), steps: fc.constantFrom(1, 1, 3, 12, -1) }),
  fc.record({
    do: fc.constantFrom('pause' as const, 'resume' as const, 'purge' as const, 'retryNow' as const),
    lane: laneIndex,
  }),
  fc.record({ do: fc.constantFrom('delete' as const, 'sweep' as const), lane: laneIndex }),
)
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

/** One random history on a fresh shard. */
class Play {
  readonly model = new Model(LANES.map((lane) => ({ ...lane })))
  readonly messages: ReturnType<typeof makeMessage>[] = []
  /** Every claim ever made by any worker, also those of crashed workers and zombies. */
  readonly claims: { subscriptionId: string; delivery: Buffer; lease: string }[] = []
  skewMs = 0
  skewMaxMs = 0

  now(): number {
    return Date.now() + this.skewMs
  }

  lane(index: number): LaneModel {
    const lane = this.model.lanes.get(`lane-${index}`)
    if (!lane) throw new Error(`no lane ${index}`)
    return lane
  }

  async run(op: Operation): Promise<void> {
    if (op.do === 'park') return this.park(op)
    if (op.do === 'take') return this.take(op)
    if (op.do === 'settle') return this.settle(op.claims, op.to, op.standing)
    if (op.do === 'jump') return this.jump(op.steps)
    if (op.do === 'sweep') return this.sweep()
    if (op.do === 'purge') return this.purge(this.lane(op.lane))
    if (op.do === 'retryNow') return this.retryNow(this.lane(op.lane))
    return this.change(this.lane(op.lane), op.do)
  }

  async park({ lanes: indexes, as, message: which, standing }: Operation & { do: 'park' }) {
    const message = this.messages[which] ?? makeMessage(this.now(), 'hello', GROUPS[which % GROUPS.length])
    if (!this.messages[which]) this.messages.push(message)
    const entries = indexes.map((i) => ({
      subscriptionId: `lane-${i}`,
      delivery: message.id,
      message: 0,
      park: as,
      standing,
    }))
    const { jobs } = await lanes.park(SHARD, {
      messages: [message],
      jobs: [{ jobName: '', fence: 0, fields: [], entries }],
    })
    const [job] = jobs
    if (!job || job.stale) throw new Error('not stale')
    const outcomes = entries.map(({ subscriptionId }, i) =>
      this.model.park(this.entryOf(subscriptionId, message.id, as, job.leases[i] ?? null)),
    )
    expect(job.outcomes).toEqual(outcomes)
    for (const [i, { subscriptionId }] of entries.entries()) {
      if (outcomes[i] === 'parked')
        this.model.note(subscriptionId, as.as === 'detached' ? 'unproven' : standing)
    }
    for (const [i, lease] of job.leases.entries()) {
      if (lease)
        this.claims.push({ subscriptionId: entries[i]?.subscriptionId ?? '', delivery: message.id, lease })
    }
  }

  entryOf(lane: string, id: Buffer, as: ParkAs, lease: string | null): Entry {
    const common = { lane, delivery: id.toString('hex'), publishedAt: id.readUIntBE(0, 6), lease, ends: 0 }
    if (as.as === 'fresh') return { ...common, where: 'fresh', at: this.now(), state: null }
    if (as.as === 'detached') return { ...common, where: 'lease', at: this.now() + as.leaseMs, state: null }
    return {
      ...common,
      where: 'retry',
      at: this.now() + (as.as === 'retry' ? as.delayMs : 0),
      state: as.state,
    }
  }

  async take({ limit, deliveriesMax, unprovenMax }: Omit<Operation & { do: 'take' }, 'do'>) {
    const due = await dueScores()
    const limits = new Map(limit === undefined ? [] : LANES.map(({ id }) => [id, limit] as const))
    const taken = await takeFrom(lanes, { deliveriesMax, unprovenMax, leaseMs: LEASE_MS, limits })
    const visited = [...this.model.lanes.values()].filter(({ id }) => (due.get(id) ?? Infinity) <= taken.now)
    // A lane that uses up the take's limit ends the call. The order of its line says which lanes came before it.
    const claimed = (proven: boolean) =>
      taken.lanes.flatMap((lane) => (lane.proven === proven ? lane.claims : [])).length
    for (const lane of visited) {
      const complete = lane.proven || lane.gone ? claimed(true) < deliveriesMax : claimed(false) < unprovenMax
      this.takeLane(lane, taken, limit ?? lane.maxInFlight, complete)
    }
    expect(claimed(true)).toBeLessThanOrEqual(deliveriesMax)
    expect(claimed(false)).toBeLessThanOrEqual(unprovenMax)
    this.noteClaims(taken)
  }

  takeLane(lane: LaneModel, taken: TakeResult, max: number, complete: boolean) {
    const claims = taken.lanes.find(({ subscriptionId }) => subscriptionId === lane.id)?.claims ?? []
    // Only Redis shows which lanes an incomplete take did not reach. Their leases may stay.
    const seen = claims.length > 0 || taken.expired.some(({ subscriptionId }) => subscriptionId === lane.id)
    if (!complete && !seen) return this.noteUnreached(lane, taken.now)
    this.model.returnEnded(lane.id, taken.now)
    if (lane.gone) {
      for (const entry of this.waiting(lane.id)) this.model.end(entry, 'discarded:unsubscribed')
    }
    if (lane.gone || lane.paused) expect(claims).toEqual([])
    const dueNow = this.waiting(lane.id).filter(({ at }) => at <= taken.now)
    const anyOld = this.waiting(lane.id).some((entry) => this.model.isOld(entry, taken.now))
    const most = lane.proven ? max : Math.min(max, 1)
    expect(claims.length).toBeLessThanOrEqual(most)
    if (complete && !lane.rate && !lane.groupRates && !anyOld && !lane.gone)
      expect(claims.length).toBe(Math.min(most, dueNow.length))
    if (claims.length >= max) this.model.cut.add(lane.id)
  }

  /** Lanes that the take may not have reached. `check` resolves them by reading Redis. */
  readonly unreached = new Map<string, number>()
  noteUnreached(lane: LaneModel, now: number) {
    this.unreached.set(lane.id, now)
  }

  waiting(lane: string): Entry[] {
    return this.model.of(lane).filter(({ where }) => where !== 'lease')
  }

  noteClaims(taken: TakeResult) {
    for (const { subscriptionId, delivery } of taken.expired) {
      const entry = this.model.entries.get(subscriptionId + delivery.toString('hex'))
      expect(entry && this.model.isOld(entry, taken.now) && entry.where !== 'lease').toBe(true)
      expect(this.model.lanes.get(subscriptionId)?.deadLetters).toBe(false)
      if (entry) this.model.end(entry, 'expired')
    }
    for (const { subscriptionId, delivery, lease, sendAt, state } of claimsOf(taken)) {
      const entry = this.model.entries.get(subscriptionId + delivery.toString('hex'))
      if (!entry || entry.where === 'lease') throw new Error(`${subscriptionId} gave what did not wait`)
      if (state?.kind === 'dead' && state.cause === 'expired' && entry.state?.kind !== 'dead') {
        expect(this.model.isOld(entry, taken.now)).toBe(true)
        Object.assign(entry, { state, ends: 0 })
      } else {
        expect(entry.at).toBeLessThanOrEqual(taken.now)
        expect(this.model.isOld(entry, taken.now)).toBe(false)
      }
      expect(state).toEqual(entry.state)
      const lane = this.model.lanes.get(subscriptionId)
      const group = this.messages.find(({ id }) => delivery.subarray(0, 16).equals(id))?.groupId
      const throttled = (lane?.rate || (lane?.groupRates && group)) && state?.kind !== 'dead'
      if (throttled) expect((sendAt ?? Infinity) - taken.now).toBeLessThanOrEqual(250)
      else expect(sendAt).toBe(null)
      expect(this.claims.some((claim) => claim.lease === lease)).toBe(false)
      Object.assign(entry, { where: 'lease', at: taken.now + LEASE_MS, lease })
      this.claims.push({ subscriptionId, delivery, lease })
    }
  }

  async settle(picks: number[], to: SettleTo, standing?: Standing) {
    const chosen = picks.flatMap((pick) => this.claims[pick % Math.max(1, this.claims.length)] ?? [])
    const { accepted, leases } = await lanes.settle(
      SHARD,
      chosen.map((claim) => ({ ...claim, to, standing })),
    )
    const now = this.now()
    for (const [i, claim] of chosen.entries()) {
      const hex = claim.delivery.toString('hex')
      expect(accepted[i]).toBe(this.model.settle(claim.subscriptionId, hex, claim.lease, to, now))
      if (accepted[i]) this.model.note(claim.subscriptionId, standing)
      const lease = leases[i]
      const entry = this.model.entries.get(claim.subscriptionId + hex)
      if (!lease || !entry || lease === claim.lease) continue
      expect(to.op === 'declareDead' && entry.at < now + DEAD_LEASE_MS).toBe(true)
      Object.assign(entry, { lease, at: now + DEAD_LEASE_MS })
      this.claims.push({ ...claim, lease })
    }
  }

  async jump(steps: number) {
    this.skewMs += steps * STEP_MS
    this.skewMaxMs = Math.max(this.skewMs, this.skewMaxMs)
    await redis.set(skewKey(BASE), this.skewMs)
  }

  async sweep() {
    let cursor: string | null = null
    // Deliveries that expire after this time belong to the next sweep.
    let firstAt: number | undefined
    do {
      const step = await lanes.sweep(SHARD, { cursor, deliveriesMax: 500, leaseMs: LEASE_MS })
      firstAt ??= step.now
      for (const lane of this.model.lanes.values()) if (!lane.gone) this.model.returnEnded(lane.id, step.now)
      this.noteSwept(step.now)
      this.noteClaims(step)
      cursor = step.cursor
    } while (cursor !== null)
    for (const entry of this.model.entries.values()) {
      const settled = entry.where === 'lease' || this.model.lanes.get(entry.lane)?.gone
      const dead = entry.state?.kind === 'dead' && entry.at <= firstAt
      if (!settled) expect(this.model.isOld(entry, firstAt) || dead).toBe(false)
    }
  }

  /** Fresh deliveries cannot be due in the future, unless the clock was set back. */
  noteSwept(now: number) {
    for (const entry of this.model.entries.values()) {
      const live = !this.model.lanes.get(entry.lane)?.gone
      if (live && entry.where === 'fresh' && entry.at > now + 1_000) entry.at = now
    }
  }

  async purge(lane: LaneModel) {
    const waiting = this.waiting(lane.id)
    expect(await lanes.purge(SHARD, lane.id)).toBe(waiting.length)
    for (const entry of waiting) this.model.end(entry, 'discarded:purged')
  }

  async retryNow(lane: LaneModel) {
    // If the clock was set back, deliveries on shelves are due later, and stay there.
    if (lane.groupRates) return
    const now = this.now()
    const later = this.model.of(lane.id, 'retry').filter(({ at }) => at > now)
    expect(await lanes.retryNow(SHARD, lane.id)).toBe(later.length)
    for (const entry of later) {
      entry.at = now
      if (entry.state?.kind === 'retry') entry.state = { ...entry.state, why: ASKED_NOW }
    }
  }

  async change(lane: LaneModel, what: 'pause' | 'resume' | 'delete') {
    if (lane.gone) return
    lane.paused = what === 'pause'
    lane.gone = what === 'delete'
    const [field, value] = what === 'delete' ? ['g', '1'] : ['p', lane.paused ? '1' : '']
    await changeLane(redis, lane.id, field ?? '', value ?? '')
  }

  async check() {
    for (const lane of this.model.lanes.values()) await this.checkLane(lane)
    this.unreached.clear()
    const { delivered: _, ...counted } = this.model.ended
    const counts = Object.entries(await redis.hgetall(keys.countsKey(BASE))).map(([name, n]) => [
      name,
      Number(n),
    ])
    expect(Object.fromEntries(counts)).toEqual(counted)
    const ended = Object.values(this.model.ended).reduce((sum, n) => sum + n, 0)
    expect(ended + this.model.entries.size).toBe(this.model.parked)
    const bodies = await storedMessages(
      redis,
      this.messages.map(({ id }) => id),
    )
    let bytes = 0
    for (const [i, message] of this.messages.entries()) {
      const hex = message.id.toString('hex')
      const references = [...this.model.entries.values()].filter(({ delivery }) => delivery === hex).length
      const stored = bodies[i]
      const group = message.groupId === undefined ? {} : { g: message.groupId }
      const kept = { b: message.body, n: String(references), t: TOPIC_UID, ...group }
      expect(stored).toEqual(references === 0 ? {} : kept)
      if (references > 0) bytes += message.body.length + 150 * references
    }
    expect(await redis.hgetall(keys.topicBytesKey(BASE))).toEqual(
      bytes === 0 ? {} : { [TOPIC_UID]: String(bytes) },
    )
  }

  async checkLane(lane: LaneModel) {
    const [fresh, retry, lease] = await Promise.all(
      [freshKey, retryKey, leaseKey].map((key) => scoresOf(key(BASE, lane.id))),
    )
    if (!fresh || !retry || !lease) throw new Error('three sets were read')
    const unreachedAt = this.unreached.get(lane.id)
    if (unreachedAt !== undefined) this.resolveUnreached(lane, unreachedAt, lease, fresh.size + retry.size)
    this.compare(withoutShelves(fresh), this.model.of(lane.id, 'fresh'), lane)
    this.compare(withoutShelves(retry), this.model.of(lane.id, 'retry'), lane)
    this.compare(
      new Map([...lease].map(([id, score]) => [id, score / 2_048])),
      this.model.of(lane.id, 'lease'),
    )
    const states = await redis.hgetallBuffer(stateKey(BASE, lane.id))
    const known = this.model.of(lane.id).flatMap((e) => storedState(e) ?? [])
    // A Buffer reply has texts as keys. Comparing the number of fields and their values is enough, together with the
    // sets above.
    expect(Object.values(states).map(String).sort()).toEqual(known.sort())
    await this.checkDue(lane, [...fresh.values(), ...retry.values()], [...lease.values()])
  }

  /**
   * A take that reached its limit before a lane left it unchanged. If it reached the lane, it returned ended leases and
   * discarded it.
   */
  resolveUnreached(lane: LaneModel, now: number, lease: Map<string, number>, waiting: number) {
    const ended = this.model.of(lane.id, 'lease').filter(({ at }) => at <= now)
    if (ended.some(({ delivery }) => !lease.has(delivery))) this.model.returnEnded(lane.id, now)
    if (!lane.gone || waiting > 0) return
    for (const entry of this.waiting(lane.id)) this.model.end(entry, 'discarded:unsubscribed')
  }

  compare(found: Map<string, number>, expected: Entry[], lane?: LaneModel) {
    expect([...found.keys()].sort()).toEqual(expected.map(({ delivery }) => delivery).sort())
    // The sweep does not correct the times of deliveries on shelves.
    if (lane?.groupRates && this.skewMaxMs > this.skewMs) return
    for (const { delivery, at } of expected)
      expect(Math.abs((found.get(delivery) ?? 0) - at)).toBeLessThan(4_000)
  }

  async checkDue(lane: LaneModel, waiting: number[], leases: number[]) {
    const lines = [keys.dueKey(BASE), keys.unprovenKey(BASE)]
    const [line, other] = lane.proven || lane.gone ? lines : lines.toReversed()
    const [score, tat] = await Promise.all([
      redis.zscore(line ?? '', lane.id),
      redis.hget(keys.laneKey(BASE, lane.id), 'x'),
    ])
    expect(await redis.zscore(other ?? '', lane.id)).toBe(null)
    const leased = Math.min(...leases.map((lease) => Math.floor(lease / 2_048)))
    const own = waiting.filter((at) => at < SHELVED_FROM)
    const shelved = Math.min(...(await scoresOf(`${BASE}shelved:${lane.id}`)).values()) - AHEAD_MS_MIN
    const first = Math.min(...own, own.length < waiting.length ? shelved : Infinity)
    const sendable = Math.max(first, lane.rate ? Number(tat ?? 0) - AHEAD_MS_MIN : 0)
    const next = Math.min(leased, waiting.length > 0 && lane.gone ? 0 : sendable)
    if ((lane.paused && !lane.gone) || next === Infinity) return expect(score).toBe(null)
    const due = Number(score ?? Number.NaN)
    // The time was written at the latest when the clock was furthest ahead.
    const now = Date.now() + this.skewMaxMs
    // When its time came, the lane got everything that this worker may have in flight. Others may take from it a second
    // later.
    const isFull = line === keys.unprovenKey(BASE) && this.model.cut.has(lane.id)
    if (isFull && due > now) return expect(due).toBeLessThanOrEqual(Math.max(now + FULL_MS, Math.ceil(next)))
    // An overdue lane keeps its place in the line, even if it had been postponed.
    const postponed = due % 1 === 0.5 && !(next <= now && due <= now)
    if (postponed) expect(this.model.cut.has(lane.id) && due <= Math.max(now + 251, next)).toBe(true)
    else if (next <= now) expect(due).toBeLessThanOrEqual(now)
    // A send time from before the clock was set back is replaced by one that is a little ahead.
    else if (lane.rate || lane.groupRates) expect(due).toBeLessThanOrEqual(Math.ceil(next))
    else expect(due).toBe(Math.ceil(next))
  }

  /**
   * Resumes every lane, ends every lease and delivers everything. Then only the lanes are left, and finally not even
   * these.
   */
  async finish() {
    for (const lane of this.model.lanes.values()) await this.change(lane, 'resume')
    await this.jump(20)
    for (let round = 0; this.model.entries.size > 0 && round < 200; round++) {
      await this.take({ limit: undefined, deliveriesMax: 500, unprovenMax: 500 })
      await this.settle(
        this.claims.map((_, i) => i),
        { op: 'delivered' },
      )
      await this.jump(1)
    }
    await this.check()
    expect(this.model.entries.size).toBe(0)
    await this.sweep()
    for (const lane of this.model.lanes.values()) await this.change(lane, 'delete')
    expect(await keysLeft(redis)).toEqual([])
  }
}

/** Due times of deliveries, also of those on shelves. */
function withoutShelves(scores: Map<string, number>): Map<string, number> {
  const dueOf = (score: number) => (score < SHELVED_FROM ? score : (score % SHELF_SPAN) + SHELF_EPOCH)
  return new Map([...scores].map(([id, score]) => [id, dueOf(score)]))
}

async function scoresOf(key: string): Promise<Map<string, number>> {
  const flat = await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES')
  const pairs = flat.flatMap((id, i) =>
    i % 2 === 0 ? [[id.toString('hex'), Number(flat[i + 1])] as const] : [],
  )
  return new Map(pairs)
}

async function dueScores(): Promise<Map<string, number>> {
  const lines = [keys.dueKey(BASE), keys.unprovenKey(BASE)].map((key) =>
    redis.zrange(key, '0', '-1', 'WITHSCORES'),
  )
  const flat = (await Promise.all(lines)).flat()
  return new Map(flat.flatMap((id, i) => (i % 2 === 0 ? [[id, Number(flat[i + 1])] as const] : [])))
}

async function play(operations: Operation[]): Promise<void> {
  await redis.flushall()
  await writeSlice(redis, { retentionSeconds: RETENTION_SECONDS })
  for (const { id, rate, ...settings } of LANES)
    await writeLane(redis, rate === null ? settings : { ...settings, rate }, id)
  const history = new Play()
  for (const op of operations) {
    await history.run(op)
    await history.check()
  }
  await history.finish()
}

test(
  'every delivery is where the model has it, after any history',
  () => holdsAfterHistories(operation, play),
  RANDOM_TIMEOUT_MS,
)
