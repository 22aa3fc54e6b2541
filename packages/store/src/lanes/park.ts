/** Parking: deliveries enter their lanes together with the checkpoint of their job, in one script. */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { readScript, runScript, type ScriptValue } from '../redis/scripts.ts'
import type {
  Checkpoint,
  ParkAs,
  ParkEntry,
  ParkedJob,
  ParkFailure,
  ParkJob,
  ParkMessage,
  ParkOutcome,
  ParkRedrivenRequest,
  ParkRedrivenResult,
  ParkRequest,
  ParkResult,
} from './records/lane-records.ts'
import { packState } from './records/lane-records.ts'
import { packStanding, readTime, type Wakes } from './records/lane-replies.ts'

const PARK = readScript('park-deliveries-1')
const PARK_REDRIVEN = readScript('park-redriven-1')
const OPEN_CHECKPOINT = readScript('open-checkpoint-1')

/** 1 parked, 0 present, -1 unsubscribed. For a parked detached delivery: the text of its lease. For a failure: `!…`. */
type OutcomeReply = number | Buffer
const FAILED = '!'.charCodeAt(0)
const FRESH = ['fresh', 0, ''] as const

export async function parkDeliveries(
  redis: Redis,
  shard: number,
  { messages, jobs }: ParkRequest,
): Promise<ParkResult & { woke: Wakes }> {
  const values = [...packMessages(messages), jobs.length]
  for (const job of jobs) packJob(values, job)
  const reply = await runScript(redis, PARK, { base: shardBase(shard), shard, values })
  const [due, woke, ...parked] = reply as [Buffer, number, ...(number | OutcomeReply[])[]]
  const results = parked.map(readJob)
  refuseUnnamed(jobs, results)
  return { jobs: results, nextDueAt: readTime(due), woke }
}

/** Throws the failure of a request without a job. It has no checkpoint by which somebody would park again. */
function refuseUnnamed(jobs: ParkJob[], results: ParkedJob[]): void {
  for (const [i, result] of results.entries()) {
    if (result.stale || jobs[i]?.jobName !== '') continue
    for (const outcome of result.outcomes) if (typeof outcome === 'object') throw new Error(outcome.error)
  }
}

/** LANE.fifo of a lane (lua-names.ts). */
export function fifoMark(sendsFollowers: boolean): string {
  return sendsFollowers ? '2' : '1'
}

export async function parkRedriven(
  redis: Redis,
  shard: number,
  { task, fence, batch, messages, entries }: ParkRedrivenRequest,
): Promise<{ woke: Wakes; result: ParkRedrivenResult }> {
  const packed = entries.flatMap((entry) => [
    entry.subscriptionId,
    entry.delivery,
    entry.message + 1,
    entry.itemId,
    entry.groupId ?? '',
    entry.sendsFollowers === undefined ? '' : fifoMark(entry.sendsFollowers),
  ])
  const values = [...packMessages(messages), entries.length, ...packed]
  const args = { base: shardBase(shard), shard, task, fence, batch, values }
  const reply = await runScript(redis, PARK_REDRIVEN, args)
  const [due, woke, outcomes] = reply as [Buffer, number, number | number[]]
  if (typeof outcomes === 'number') {
    return { woke: 0, result: { stale: true, ...(outcomes > 0 && { laterBatch: outcomes }) } }
  }
  return {
    woke,
    result: { stale: false, outcomes: outcomes.map(outcomeOf), nextDueAt: readTime(due) },
  }
}

export async function openCheckpoint(
  redis: Redis,
  shard: number,
  job: string,
  fence: number,
): Promise<Checkpoint> {
  const reply = await runScript(redis, OPEN_CHECKPOINT, { base: shardBase(shard), job, fence })
  const [stale, flat, unreadable] = reply as [number, Buffer[], number]
  const fields = new Map<string, Buffer>()
  let begun = 0
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]?.toString() ?? ''
    const value = flat[i + 1]
    if (name === 'f') begun = Number(value)
    else if (value !== undefined) fields.set(name, value)
  }
  return { stale: stale === 1, begun, fields, ...(unreadable === 1 && { unreadable: true as const }) }
}

function packMessages(messages: ParkMessage[]): ScriptValue[] {
  return [messages.length, ...messages.flatMap(({ id, body, groupId = '' }) => [id, body, groupId])]
}

/** Appends to one list: an array for each entry would cost more than all its values. */
function packJob(values: ScriptValue[], { jobName, fence, fields, entries }: ParkJob): void {
  values.push(jobName, fence, fields.length)
  for (const [name, value] of fields) values.push(name, value)
  values.push(entries.length)
  for (const entry of entries) packEntry(values, entry)
}

function packEntry(
  values: ScriptValue[],
  { subscriptionId, delivery, message, park, standing }: ParkEntry,
): void {
  const shown = park.as === 'detached' ? 'unproven' : standing
  const [kind, delayMs, state] = packAs(park)
  values.push(subscriptionId, delivery, message + 1, kind, delayMs, state, packStanding(shown))
}

/** Arguments of the script: kind of parking, delay in ms, and the packed retry state. */
function packAs(park: ParkAs): readonly [string, number, string] {
  switch (park.as) {
    case 'fresh':
      return FRESH
    case 'retry':
      return ['retry', park.delayMs, packState(park.state)]
    case 'dead':
      return ['retry', 0, packState(park.state)]
    case 'detached':
      return ['lease', park.leaseMs, '']
  }
}

function readJob(reply: number | OutcomeReply[]): ParkedJob {
  if (typeof reply === 'number') return { stale: true }
  return {
    stale: false,
    outcomes: reply.map(readOutcome),
    leases: reply.map((outcome) => (typeof outcome === 'number' ? null : outcome.toString())),
  }
}

function readOutcome(reply: OutcomeReply): ParkOutcome | ParkFailure {
  if (typeof reply === 'number') return outcomeOf(reply)
  return reply[0] === FAILED ? { error: reply.toString('utf8', 1) } : 'parked'
}

function outcomeOf(reply: number): ParkOutcome {
  return reply === 1 ? 'parked' : reply === 0 ? 'present' : 'unsubscribed'
}
