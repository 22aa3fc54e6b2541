/**
 * Random histories of FIFO lanes: publishes in groups, moves out of the log (also repeated and stale ones), readers
 * that die again and again so that groups are isolated, takes, settlements of heads alone and with followers, crashes,
 * pauses, deletions, purges, retries, redrives, sweeps and clock jumps. After every step Redis equals the model: each
 * group's head is in its set and the rest in its list, in order. Every body's count equals its references. Parked
 * deliveries equal those that are there plus those that have ended.
 */
import type { Message } from '@fantail/contracts'
import {
  behindKey,
  fifoKey,
  isolatedFifoKey,
  isolatedGroupsKey,
  isolatedLogKey,
  logKey,
  RANDOM_TIMEOUT_MS,
  skewKey,
  stateKey,
} from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fifoMessage } from '../fifo/fifo.fixture.ts'
import { FifoLog } from '../fifo/fifo-log.ts'
import { LogsModel, type ReadModel } from '../fifo/fifo-logs-model.fixture.ts'
import { FifoReading, type LogMove, type LogMoved } from '../fifo/fifo-reading.ts'
import * as keys from '../keys/keys.ts'
import { shardOf } from '../keys/shards.ts'
import { messageBody, readMessage } from '../records/message-bodies.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'
import {
  BASE,
  changeLane,
  claimsOf,
  keysLeft,
  SHARD,
  SLICE,
  storedMessages,
  takeFrom,
  writeLane,
  writeSlice,
} from './lane.fixture.ts'
import { Lanes } from './lanes.ts'
import { type FifoLane, FifoModel, type Head, publishedAt, putBack } from './lanes-fifo-model.fixture.ts'
import {
  DEAD_LEASE_MS,
  holdsAfterHistories,
  LEASE_MS,
  RETENTION_SECONDS,
  STEP_MS,
  storedState,
} from './lanes-model.fixture.ts'
import { deliveryId } from './records/generations.ts'
import type { Claim, DeadState, LogClaim, RetryState, SettleTo, TakeResult } from './records/lane-records.ts'

const { redis } = await useRedis()
const lanes = new Lanes(redis)
const log = new FifoLog(redis)
const reading = new FifoReading(redis)

/** A topic whose home shard is the fixture's. */
const ARN = Array.from({ length: 1_000 }, (_, i) => `arn:aws:sns:us-east-1:000000000000:t${i}.fifo`).find(
  (arn) => shardOf(arn) === SHARD,
) as string
const UID = SLICE.slice(0, SLICE.indexOf('.'))
const GROUPS = ['a', 'b', 'c']
const LANES: FifoLane[] = [
  { maxInFlight: 32, deadLetters: false, sendsFollowers: false, proven: true },
  { maxInFlight: 32, deadLetters: true, sendsFollowers: true, proven: true },
  { maxInFlight: 2, deadLetters: false, sendsFollowers: true, proven: false },
].map((settings, i) => ({ ...settings, id: `lane-${i}`, paused: false, gone: false }))

const { FOLLOWED_LEASE_MS } = NUMBER
const DECIDED = { cause: 'backoff', delayMs: 15_000 } as const
const ASKED_NOW = { cause: 'retryNow', delayMs: null } as const
const FAILED: RetryState = { kind: 'retry', attempts: 1, statusCode: 500, error: null, why: DECIDED }
const DEAD: DeadState = { kind: 'dead', cause: 'permanent', attempts: 1, statusCode: 410, error: null }
const OUTCOMES: SettleTo[] = [
  { op: 'delivered' },
  { op: 'delivered' },
  { op: 'retry', delayMs: 15_000, state: { ...FAILED, attempts: 2 } },
  { op: 'returnToLane' },
  { op: 'returnUncounted' },
  { op: 'declareDead', leaseMs: DEAD_LEASE_MS, state: DEAD },
  { op: 'deadLettered' },
  { op: 'discard', cause: 'permanent' },
  { op: 'quarantined' },
]

const laneIndex = fc.nat({ max: LANES.length - 1 })
const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      groups: fc.array(fc.constantFrom(...GROUPS), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      lanes: fc.uniqueArray(laneIndex, { minLength: 0, maxLength: LANES.length }),
      count: fc.nat({ max: 8 }),
      reader: fc.nat(),
      how: fc.constantFrom('once' as const, 'once' as const, 'twice' as const, 'stale' as const),
    }),
  },
  // Readers must die three times before a message is blamed.
  { weight: 3, arbitrary: fc.record({ do: fc.constant('die' as const), times: fc.constantFrom(1, 3, 6) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      limit: fc.constantFrom(undefined, undefined, 0, 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      claims: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
      to: fc.constantFrom(...OUTCOMES),
      withFollowers: fc.boolean(),
    }),
  },
  fc.record({ do: fc.constant('jump' as const), steps: fc.constantFrom(1, 1, 3, 12, -1) }),
  fc.record({
    do: fc.constantFrom('pause' as const, 'resume' as const, 'purge' as const, 'retryNow' as const),
    lane: laneIndex,
  }),
  fc.record({ do: fc.constant('redrive' as const), lane: laneIndex, message: fc.nat() }),
  fc.record({ do: fc.constantFrom('delete' as const, 'sweep' as const), lane: laneIndex }),
)
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

interface OpenClaim extends Claim {
  subscriptionId: string
}

/** One random history on a fresh shard. */
class Play {
  readonly model = new FifoModel(LANES.map((lane) => ({ ...lane })))
  /** Stored messages, by hex of their id. */
  readonly messages = new Map<string, Message>()
  readonly logs = new LogsModel()
  /** Hex ids of each group that have not been moved into lanes, in the order of publishing. */
  readonly inLog = new Map(GROUPS.map((group) => [group, [] as string[]]))
  /** Every claim ever made, also those of crashed workers and zombies. */
  readonly claims: OpenClaim[] = []
  /** Readers by group; '' is the topic's own log. */
  readonly readers = new Map<string, LogClaim>()
  readonly staleReaders: LogClaim[] = []
  skewMs = 0
  skewMaxMs = 0
  /** Whether the clock was set back. The order of a line then differs from that of the messages' times. */
  setBack = false
  tasks = 0

  now(): number {
    return Date.now() + this.skewMs
  }

  async run(op: Operation): Promise<void> {
    switch (op.do) {
      case 'publish':
        return this.publish(op.groups)
      case 'move':
        return this.move(op)
      case 'die':
        return this.die(op.times)
      case 'take':
        return this.take(op.limit)
      case 'settle':
        return this.settle(op.claims, op.to, op.withFollowers)
      case 'jump':
        return this.jump(op.steps)
      case 'sweep':
        return this.sweep()
      case 'purge':
        return this.purge(`lane-${op.lane}`)
      case 'retryNow':
        return this.retryNow(`lane-${op.lane}`)
      case 'redrive':
        return this.redrive(`lane-${op.lane}`, op.message)
      default:
        return this.change(`lane-${op.lane}`, op.do)
    }
  }

  async publish(groups: string[]) {
    const made = groups.map((group, i) => {
      const publishedAt = this.now()
      return fifoMessage(`text ${i}`, group, { topicArn: ARN, publishedAt, ...idsAt(publishedAt) })
    })
    const receipts = await log.publish(ARN, made)
    for (const [i, message] of made.entries()) {
      const hex = deliveryId(message.messageId).toString('hex')
      this.messages.set(hex, { ...message, sequenceNumber: receipts[i]?.sequenceNumber ?? '' })
      const group = message.groupId ?? ''
      this.inLog.get(group)?.push(hex)
      this.logs.own.entries.push({ id: hex, group })
    }
  }

  isInLog(id: string): boolean {
    return this.inLog.get(this.groupOf(id))?.includes(id) ?? false
  }

  async move({ lanes: to, count, how, reader: which }: Extract<Operation, { do: 'move' }>) {
    if (how === 'stale') {
      for (const claim of this.staleReaders)
        expect(await reading.read(SHARD, claim)).toEqual({ kind: 'stale' })
      return
    }
    const readers = [...this.readers.values()]
    const claim = readers[which % Math.max(1, readers.length)]
    if (claim) await this.moveOne(claim, to, count, how === 'twice' ? 2 : 1)
  }

  /** Resolves with whether the log has more messages for its reader. */
  async moveOne(claim: LogClaim, to: number[], count: number, times = 1): Promise<boolean> {
    const log = this.logs.find(claim.group)
    if (!log) throw new Error(`no log of ${claim.group}`)
    const found = this.expectRead(await reading.read(SHARD, claim), this.logs.read(log))
    if (found.length === 0) {
      this.dropReader(claim)
      return false
    }
    const ids = found.slice(0, count)
    const subscriptions = LANES.map(({ id, sendsFollowers }) => ({ id, sendsFollowers }))
    const request: LogMove = {
      subscriptions,
      messages: ids.map((id) => ({ id: Buffer.from(id, 'hex'), to })),
    }
    let left = found
    for (let n = 0; n < times; n++) {
      const moved = await reading.move(SHARD, claim, request)
      if (n === 0) for (const id of ids) this.moved(id, to)
      if (left.length > 0) left = this.expectRead(moved, this.logs.read(log, n === 0 ? ids.length : 0))
      // The log of an isolated group is deleted with its last message.
      else expect(moved.kind).toBe(claim.group === undefined ? 'moved' : 'stale')
    }
    if (left.length === 0) this.dropReader(claim)
    return left.length > 0
  }

  dropReader(claim: LogClaim) {
    const { group } = claim
    if (group === undefined) return
    this.readers.delete(group)
    if (!this.logs.isolated.has(group)) this.staleReaders.push(claim)
  }

  moved(id: string, to: number[]) {
    const group = this.groupOf(id)
    expect(this.inLog.get(group)?.shift()).toBe(id)
    for (const index of to) {
      const lane = this.model.lane(`lane-${index}`)
      if (!lane.gone) this.model.join(lane.id, group, id, this.now())
      else {
        this.model.placed++
        this.model.ended['discarded:unsubscribed'] = (this.model.ended['discarded:unsubscribed'] ?? 0) + 1
      }
    }
  }

  expectRead(moved: LogMoved, expected: ReadModel): string[] {
    if (moved.kind !== 'moved') throw new Error(`the reader has lost the log: ${moved.kind}`)
    const { isolated, failedStarts } = moved
    const found = isolated && {
      id: isolated.id.toString('hex'),
      failed: isolated.failedStarts,
      delayMs: isolated.delayMs,
    }
    const entries = moved.entries.map(({ id }) => id.toString('hex'))
    expect({ entries, failed: failedStarts, isolated: found ?? null }).toEqual(expected)
    for (const { id, body } of [...moved.entries, ...(isolated ? [isolated] : [])])
      expect(readMessage(body ?? '')).toEqual(this.messages.get(id.toString('hex')))
    return entries
  }

  /** Readers are lent the logs, read them, and die. */
  async die(times: number) {
    for (let n = 0; n < times; n++) {
      await this.take(undefined)
      for (const claim of this.readers.values()) {
        const log = this.logs.find(claim.group)
        if (!log) throw new Error(`no log of ${claim.group}`)
        const left = this.expectRead(await reading.read(SHARD, claim), this.logs.read(log))
        if (left.length === 0) this.dropReader(claim)
      }
      await this.jump(1)
    }
  }

  groupOf(delivery: string): string {
    return this.messages.get(delivery.slice(0, 32))?.groupId ?? ''
  }

  async take(limit: number | undefined) {
    const due = await dueScores()
    const limits = new Map(limit === undefined ? [] : LANES.map(({ id }) => [id, limit] as const))
    const taken = await takeFrom(lanes, { leaseMs: LEASE_MS, limits, logsMax: 10 })
    this.noteLogs(taken, due)
    const visited = [...this.model.lanes.values()].filter(({ id }) => (due.get(id) ?? Infinity) <= taken.now)
    for (const lane of visited) {
      if (!lane.paused || lane.gone) this.model.returnEnded(lane.id, taken.now)
      if (lane.gone) this.model.discardWaiting(lane.id, 'discarded:unsubscribed', taken.now)
    }
    const before = new Map(visited.map(({ id }) => [id, this.dueHeads(id, taken.now)]))
    this.noteExpired(taken)
    this.noteClaims(taken)
    for (const lane of visited) {
      const claims = taken.lanes.find(({ subscriptionId }) => subscriptionId === lane.id)?.claims ?? []
      const max = Math.min(limit ?? lane.maxInFlight, lane.proven ? Infinity : 1)
      expect(claims.length).toBeLessThanOrEqual(max)
      if (lane.gone || lane.paused) expect(claims).toEqual([])
      else if (!this.anyOld(lane.id, taken.now) && !taken.expired.length)
        expect(claims.length).toBe(Math.min(max, before.get(lane.id) ?? 0))
    }
  }

  dueHeads(lane: string, now: number): number {
    return this.model.headsOf(lane).filter((head) => head.where !== 'lease' && head.at <= now).length
  }

  anyOld(lane: string, now: number): boolean {
    return this.model.all().some((entry) => entry.lane === lane && this.isOld(entry.delivery, now))
  }

  isOld(delivery: string, now: number): boolean {
    return delivery.length === 32 && publishedAt(delivery) < now - RETENTION_SECONDS * 1_000
  }

  noteLogs(taken: TakeResult, due: Map<string, number>) {
    const lent = this.logs.all.filter(({ group }) => (due.get(logName(group)) ?? Infinity) <= taken.now)
    const groups = taken.logs.map(({ group }) => group ?? null)
    expect(groups.toSorted()).toEqual(lent.map(({ group }) => group).toSorted())
    for (const claim of taken.logs) {
      expect(claim).toMatchObject({ uid: UID, topicArn: ARN })
      const log = this.logs.find(claim.group)
      if (!log) throw new Error(`no log of ${claim.group}`)
      log.fence = claim.fence
      const stale = this.readers.get(claim.group ?? '')
      if (stale) this.staleReaders.push(stale)
      this.readers.set(claim.group ?? '', claim)
    }
  }

  /** Expired deliveries leave from the front of their group: the head, or deliveries right behind it. */
  noteExpired(taken: TakeResult) {
    const expired = taken.expired.map(({ subscriptionId, delivery }) => ({
      lane: this.model.lane(subscriptionId),
      delivery: delivery.toString('hex'),
    }))
    const heads = expired.filter(({ lane, delivery }) => this.model.heads.has(lane.id + delivery))
    // The deliveries behind heads left before the heads.
    for (const { lane, delivery } of [...expired.filter((entry) => !heads.includes(entry)), ...heads]) {
      const group = this.groupOf(delivery)
      expect(lane.deadLetters).toBe(false)
      expect(this.isOld(delivery, taken.now)).toBe(true)
      const [head] = this.model.lines.get(`${lane.id} ${group}`) ?? []
      expect(this.model.heads.get(lane.id + head)?.where).not.toBe('lease')
      expect([head, this.model.behind({ lane: lane.id, group })[0]]).toContain(delivery)
      this.model.leave(lane.id, group, delivery, 'expired', taken.now)
    }
  }

  noteClaims(taken: TakeResult) {
    for (const claim of claimsOf(taken)) {
      const { subscriptionId, delivery, lease, state, followers = [] } = claim
      const lane = this.model.lane(subscriptionId)
      const head = this.model.heads.get(subscriptionId + delivery.toString('hex'))
      if (!head || head.where === 'lease') throw new Error(`${subscriptionId} gave what is no waiting head`)
      const old = this.isOld(head.delivery, taken.now)
      if (state?.kind === 'dead' && head.state?.kind !== 'dead') {
        expect([state.cause, old, lane.deadLetters]).toEqual(['expired', true, true])
        Object.assign(head, { state, ends: 0 })
      } else if (state?.kind !== 'dead') {
        expect([old, head.at <= taken.now]).toEqual([false, true])
      }
      expect(state).toEqual(head.state)
      expect(this.claims.some((other) => other.lease === lease)).toBe(false)
      Object.assign(head, {
        where: 'lease',
        at: taken.now + (lane.sendsFollowers ? FOLLOWED_LEASE_MS : LEASE_MS),
        lease,
      })
      this.claims.push(claim)
      const behind = this.model.behind(head)
      const young = behind.slice(0, behind.findIndex((id) => this.isOld(id, taken.now)) >>> 0)
      const expected = lane.sendsFollowers && state?.kind !== 'dead' ? young : []
      expect(followers.map((id) => id.toString('hex'))).toEqual(expected)
    }
  }

  async settle(picks: number[], to: SettleTo, withFollowers: boolean) {
    const chosen = picks.flatMap((pick) => this.claims[pick % Math.max(1, this.claims.length)] ?? [])
    const settlements = chosen.map((claim) => {
      const followed =
        withFollowers && to.op === 'delivered' && claim.followers ? { followers: claim.followers } : {}
      return { ...claim, to: { ...to, ...followed } as SettleTo }
    })
    const { accepted, leases } = await lanes.settle(SHARD, settlements)
    const now = this.now()
    for (const [i, { to, ...claim }] of settlements.entries()) {
      const head = this.model.heads.get(claim.subscriptionId + claim.delivery.toString('hex'))
      const mine = head?.where === 'lease' && head.lease === claim.lease
      expect(accepted[i]).toBe(mine)
      if (!head || !mine) continue
      this.settleHead(head, to, now)
      const lease = leases[i]
      if (!lease || lease === claim.lease) continue
      Object.assign(head, { lease, at: now + DEAD_LEASE_MS })
      this.claims.push({ ...claim, lease })
    }
  }

  settleHead(head: Head, to: SettleTo, now: number) {
    const { lane, group, delivery } = head
    const gone = this.model.lane(lane).gone
    if (to.op === 'declareDead') Object.assign(head, { state: to.state, ends: 0 })
    else if (gone && (to.op === 'retry' || to.op === 'returnToLane' || to.op === 'returnUncounted'))
      this.model.leave(lane, group, delivery, 'discarded:unsubscribed', now)
    else if (to.op === 'retry')
      Object.assign(head, { where: 'retry', at: now + to.delayMs, lease: null, state: to.state, ends: 0 })
    else if (to.op === 'returnToLane') putBack(head, now)
    else if (to.op === 'returnUncounted') putBack(Object.assign(head, { ends: 0 }), now)
    else if (to.op === 'discard') this.model.leave(lane, group, delivery, `discarded:${to.cause}`, now)
    else if (to.op === 'quarantined') this.model.leave(lane, group, delivery, 'quarantined', now)
    else if (to.op === 'deadLettered') this.model.leave(lane, group, delivery, 'deadLettered', now)
    else if (to.op === 'delivered') {
      // A purge may have removed some of the followers meanwhile. These are counted there.
      for (const id of to.followers ?? []) {
        const behind = this.model.behind(head)
        if (behind[0] === id.toString('hex')) this.model.leave(lane, group, behind[0], 'delivered', now)
      }
      this.model.leave(lane, group, delivery, 'delivered', now)
    }
  }

  async redrive(lane: string, which: number) {
    const ids = [...this.messages.keys()].filter((id) => !this.isInLog(id))
    const id = ids[which % Math.max(1, ids.length)]
    const message = id === undefined ? undefined : this.messages.get(id)
    if (id === undefined || !message || !this.known.has(lane)) return
    const delivery = deliveryId(message.messageId, 1)
    const group = message.groupId ?? ''
    const result = await lanes.parkRedriven(SHARD, {
      task: `task-${this.tasks++}`,
      fence: 1,
      batch: 1,
      messages: [{ id: deliveryId(message.messageId), body: messageBody(message) }],
      entries: [{ subscriptionId: lane, delivery, message: 0, itemId: 'item', groupId: group }],
    })
    const hex = delivery.toString('hex')
    const present = this.model.lines.get(`${lane} ${group}`)?.includes(hex) ?? false
    const outcome = this.model.lane(lane).gone ? 'unsubscribed' : present ? 'present' : 'parked'
    expect(result).toMatchObject({ stale: false, outcomes: [outcome] })
    if (outcome === 'parked') this.model.join(lane, group, hex, this.now())
  }

  /** Lanes that have got a delivery. Only these are known to be FIFO. */
  get known(): Set<string> {
    return new Set([...this.model.lines.keys()].map((key) => key.slice(0, key.indexOf(' '))))
  }

  async jump(steps: number) {
    this.skewMs += steps * STEP_MS
    this.skewMaxMs = Math.max(this.skewMs, this.skewMaxMs)
    this.setBack ||= steps < 0
    await redis.set(skewKey(BASE), this.skewMs)
  }

  async sweep() {
    let cursor: string | null = null
    let firstAt: number | undefined
    do {
      const step = await lanes.sweep(SHARD, { cursor, deliveriesMax: 500, leaseMs: LEASE_MS })
      firstAt ??= step.now
      for (const lane of this.model.lanes.values()) {
        if (!lane.gone) this.model.returnEnded(lane.id, step.now)
        for (const head of this.model.headsOf(lane.id, 'fresh'))
          if (!lane.gone && head.at > step.now + 1_000) head.at = step.now
      }
      this.noteExpired(step)
      this.noteClaims(step)
      cursor = step.cursor
    } while (cursor !== null)
    for (const lane of this.model.lanes.values()) if (!lane.gone) this.expectNothingOld(lane, firstAt)
  }

  /** `sweptAt`: Redis time at which the sweep began. Deliveries that expire later belong to the next sweep. */
  expectNothingOld(lane: FifoLane, sweptAt: number) {
    const left = this.model.waiting(lane.id).filter(({ delivery }) => this.isOld(delivery, sweptAt))
    for (const { group, delivery } of left) {
      const [first = '', second] = this.model.lines.get(`${lane.id} ${group}`) ?? []
      const head = this.model.heads.get(lane.id + first)
      // A dead letter whose leases ended again and again waits for its next try.
      const waits = head?.state?.kind === 'dead' && head.ends > 1 && head.at > sweptAt
      if (delivery === first) expect(waits).toBe(true)
      // Deliveries behind one in flight stay. With a dead-letter queue, each waits until it is the head.
      if (delivery === second) expect(head?.where === 'lease' || lane.deadLetters).toBe(true)
    }
  }

  async purge(lane: string) {
    const waiting = this.model.waiting(lane).length
    expect(await lanes.purge(SHARD, lane)).toBe(waiting)
    this.model.discardWaiting(lane, 'discarded:purged', this.now())
  }

  async retryNow(lane: string) {
    const now = this.now()
    const later = this.model.headsOf(lane, 'retry').filter(({ at }) => at > now)
    const moved = later.reduce((sum, head) => sum + 1 + this.model.behind(head).length, 0)
    expect(await lanes.retryNow(SHARD, lane)).toBe(moved)
    for (const head of later) {
      head.at = now
      if (head.state?.kind === 'retry') head.state = { ...head.state, why: ASKED_NOW }
    }
  }

  async change(id: string, what: 'pause' | 'resume' | 'delete') {
    const lane = this.model.lane(id)
    if (lane.gone) return
    lane.paused = what === 'pause'
    lane.gone = what === 'delete'
    const [field, value] = what === 'delete' ? ['g', '1'] : ['p', lane.paused ? '1' : '']
    await changeLane(redis, id, field ?? '', value ?? '')
  }

  async check() {
    // Checks only read, so their commands can go to Redis together.
    await Promise.all([...this.model.lanes.values()].map((lane) => this.checkLane(lane)))
    const { delivered: _, ...counted } = this.model.ended
    const counts = await redis.hgetall(keys.countsKey(BASE))
    expect(Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, Number(n)]))).toEqual(counted)
    const ended = Object.values(this.model.ended).reduce((sum, n) => sum + n, 0)
    expect(ended + this.model.all().length).toBe(this.model.placed)
    await Promise.all([this.checkBodies(), this.checkLogs()])
  }

  async checkLogs() {
    const due = await dueScores()
    const checkLog = async ({ group, entries }: LogsModel['all'][number]) => {
      const key = group === null ? logKey(BASE, UID) : isolatedLogKey(BASE, UID, group)
      const list = await redis.lrangeBuffer(key, 0, -1)
      expect(list.map((entry) => entry.toString('hex', 0, 16))).toEqual(entries.map(({ id }) => id))
      expect(due.has(logName(group))).toBe(entries.length > 0)
    }
    await Promise.all(this.logs.all.map(checkLog))
    const isolated = [...this.logs.isolated.keys()]
    expect((await redis.smembers(isolatedGroupsKey(BASE, UID))).sort()).toEqual(isolated.sort())
    const hashes = await redis.keys(isolatedFifoKey(BASE, UID, '*'))
    expect(hashes.sort()).toEqual(isolated.map((group) => isolatedFifoKey(BASE, UID, group)).sort())
  }

  async checkBodies() {
    const all = this.model.all()
    const bodies = await storedMessages(
      redis,
      [...this.messages.keys()].map((id) => Buffer.from(id, 'hex')),
    )
    let bytes = 0
    for (const [i, [id, message]] of [...this.messages].entries()) {
      const inLanes = all.filter(({ delivery }) => delivery.startsWith(id)).length
      const references = inLanes + (this.isInLog(id) ? 1 : 0)
      const stored = bodies[i] ?? {}
      if (references === 0) expect(stored).toEqual({})
      else
        expect({ n: stored.n, t: stored.t, body: readMessage(stored.b ?? '') }).toEqual({
          n: String(references),
          t: UID,
          body: message,
        })
      if (references > 0) bytes += (stored.b ?? '').length + 150 * references
    }
    const counted = await redis.hgetall(keys.topicBytesKey(BASE))
    expect(counted).toEqual(bytes === 0 ? {} : { [UID]: String(bytes) })
  }

  async checkLane(lane: FifoLane) {
    const sets = ['fresh', 'retry', 'lease'] as const
    const scores = await Promise.all(sets.map((where) => scoresOf(`${BASE}${where}:${lane.id}`)))
    for (const [i, where] of sets.entries()) {
      const found = scores[i] ?? new Map()
      const heads = this.model.headsOf(lane.id, where)
      expect([...found.keys()].sort()).toEqual(heads.map(({ delivery }) => delivery).sort())
      const unit = where === 'lease' ? 2_048 : 1
      for (const { delivery, at } of heads)
        expect(Math.abs((found.get(delivery) ?? 0) / unit - at)).toBeLessThan(4_000)
    }
    const behind = await Promise.all(
      GROUPS.map((group) => redis.lrangeBuffer(behindKey(BASE, lane.id, group), 0, -1)),
    )
    for (const [i, group] of GROUPS.entries()) {
      const line = this.model.lines.get(`${lane.id} ${group}`) ?? []
      expect(behind[i]?.map((id) => id.toString('hex'))).toEqual(line.slice(1))
    }
    await this.checkFigures(lane)
    const states = await redis.hgetallBuffer(stateKey(BASE, lane.id))
    const known = this.model.headsOf(lane.id).flatMap((head) => storedState(head) ?? [])
    expect(Object.values(states).map(String).sort()).toEqual(known.sort())
    await this.checkDue(lane)
  }

  async checkFigures(lane: FifoLane) {
    if (lane.gone) return
    const [figures] = await lanes.figures([{ subscriptionId: lane.id, shard: SHARD }])
    const waiting = this.model.waiting(lane.id)
    const inFlight = this.model.headsOf(lane.id, 'lease').length
    expect(figures).toMatchObject({ waiting: waiting.length, inFlight })
    const oldest = Math.min(...waiting.map(({ delivery }) => publishedAt(delivery)))
    if (!this.setBack && waiting.every(({ delivery }) => delivery.length === 32))
      expect(figures?.oldestPublishedAt ?? Infinity).toBe(oldest)
    const asked = waiting.slice(0, 5).map(({ delivery }) => Buffer.from(delivery, 'hex'))
    const states = await lanes.deliveryStates(
      SHARD,
      asked.map((delivery) => ({ subscriptionId: lane.id, delivery })),
    )
    expect(states.map(({ where }) => where)).toEqual(asked.map(() => 'waiting'))
  }

  async checkDue(lane: FifoLane) {
    const heads = this.model.headsOf(lane.id)
    const lines = [keys.dueKey(BASE), keys.unprovenKey(BASE)]
    const [line, other] = lane.proven || lane.gone ? lines : lines.toReversed()
    const score = await redis.zscore(line ?? '', lane.id)
    expect(await redis.zscore(other ?? '', lane.id)).toBe(null)
    const waits = heads.filter(({ where }) => where !== 'lease').map(({ at }) => (lane.gone ? 0 : at))
    const leases = heads.filter(({ where }) => where === 'lease').map(({ at }) => at)
    const next = Math.min(...waits, ...leases)
    if ((lane.paused && !lane.gone) || next === Infinity) return expect(score).toBe(null)
    const due = Number(score ?? Number.NaN)
    // The time was written at the latest when the clock was furthest ahead.
    const now = Date.now() + this.skewMaxMs
    expect(due).toBeLessThan(Math.max(next, now) + 4_000)
    if (next > now) expect(due).toBeGreaterThan(next - 4_000)
  }

  /**
   * Moves everything, resumes every lane, ends every lease and delivers everything in order. Then only the lanes are
   * left.
   */
  async finish() {
    for (const lane of this.model.lanes.values()) if (lane.paused) await this.change(lane.id, 'resume')
    await this.jump(20)
    for (let round = 0; this.model.all().length + this.logs.messages.length > 0 && round < 200; round++) {
      await this.take(undefined)
      for (const claim of [...this.readers.values()]) while (await this.moveOne(claim, [0, 1, 2], 50));
      const all = this.claims.map((_, i) => i)
      await this.settle(all, { op: 'delivered' }, round % 2 === 0)
      await this.jump(1)
    }
    await this.check()
    expect([this.model.all(), this.logs.messages]).toEqual([[], []])
    await this.sweep()
    for (const lane of this.model.lanes.values()) await this.change(lane.id, 'delete')
    await redis.del(fifoKey(BASE, UID), keys.topicKey(ARN))
    const left = (await keysLeft(redis)).filter((key) => !/:(dedup|redriven):/.test(key))
    expect(left).toEqual([])
  }
}

/** In `due`. */
function logName(group: string | null): string {
  return group === null ? `log:${UID}` : `isolated:${UID}:${group}`
}

function idsAt(publishedAt: number) {
  const { messageId } = fifoMessage('', '', {})
  const time = publishedAt.toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}${messageId.slice(13)}`
  return { messageId: id, deduplicationId: id }
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
  await redis.hset(keys.topicKey(ARN), {
    uid: UID,
    record: JSON.stringify({ arn: ARN, uid: UID, fifo: true }),
  })
  for (const { id, ...settings } of LANES) await writeLane(redis, settings, id)
  const history = new Play()
  for (const op of operations) {
    await history.run(op)
    await history.check()
  }
  await history.finish()
}

test(
  '[134] the head of every group is where the model has it, and the others are behind it in order',
  () => holdsAfterHistories(operation, play),
  RANDOM_TIMEOUT_MS,
)
