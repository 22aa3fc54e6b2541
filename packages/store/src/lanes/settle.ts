/** Settling: writes the result of claims. A claim is settled only if its lease is still the current one. */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { readScript, runScript, type ScriptValue } from '../redis/scripts.ts'
import { packState, type Settlement, type SettleResult, type SettleTo } from './records/lane-records.ts'
import { packStanding, readTime, type Wakes } from './records/lane-replies.ts'

const SETTLE = readScript('settle-deliveries-1')

/** Settlements per script. */
const SETTLE_STEP = 1_000
const NOTHING = [] as const
/** Before the error of a settlement whose lane has unreadable data. */
const FAILED = '!'.charCodeAt(0)

type Settled = SettleResult & { woke: Wakes }

/** A large request is settled in several scripts, because settlements do not depend on each other. */
export async function settleDeliveries(
  redis: Redis,
  shard: number,
  settlements: Settlement[],
): Promise<Settled> {
  let all = await settleStep(redis, shard, settlements.slice(0, SETTLE_STEP))
  for (let done = SETTLE_STEP; done < settlements.length; done += SETTLE_STEP) {
    const next = await settleStep(redis, shard, settlements.slice(done, done + SETTLE_STEP))
    const accepted = [...all.accepted, ...next.accepted]
    const failed = new Map([...(all.failed ?? []), ...[...(next.failed ?? [])].map(later(done))])
    const leases = [...all.leases, ...next.leases]
    all = { ...next, accepted, leases, woke: all.woke | next.woke, ...(failed.size > 0 && { failed }) }
  }
  return all
}

/** Moves the position of a failed settlement. */
function later(by: number) {
  return ([at, error]: [number, string]): [number, string] => [at + by, error]
}

async function settleStep(redis: Redis, shard: number, settlements: Settlement[]): Promise<Settled> {
  const positions = settlements.map((_, i) => i)
  const lanes = Map.groupBy(positions, (i) => settlements[i]?.subscriptionId ?? '')
  const values: ScriptValue[] = []
  for (const [id, at] of lanes)
    packLane(
      values,
      id,
      at.flatMap((i) => settlements[i] ?? []),
    )
  const reply = await runScript(redis, SETTLE, { base: shardBase(shard), shard, values })
  const [due, woke, ...outcomes] = reply as [Buffer, number, ...(number | Buffer)[]]
  const accepted = new Array<boolean>(settlements.length).fill(false)
  const leases = new Array<string | null>(settlements.length).fill(null)
  const failed = new Map<number, string>()
  for (const [n, i] of [...lanes.values()].flat().entries()) {
    const outcome = outcomes[n] ?? 0
    if (typeof outcome !== 'number' && outcome[0] === FAILED) {
      failed.set(i, outcome.toString('utf8', 1))
      continue
    }
    accepted[i] = outcome !== 0
    leases[i] = typeof outcome === 'number' ? null : outcome.toString()
  }
  return { accepted, leases, nextDueAt: readTime(due), woke, ...(failed.size > 0 && { failed }) }
}

/** Appends to one list: an array for each settlement would cost more than all its values. */
function packLane(values: ScriptValue[], id: string, settlements: Settlement[]): void {
  values.push(id, standingOf(settlements), settlements.length)
  for (const { delivery } of settlements) values.push(delivery)
  for (const settlement of settlements) packSettlement(values, settlement)
}

/** The latest standing of a lane's endpoint. */
function standingOf(settlements: Settlement[]): string {
  return packStanding(settlements.findLast(({ standing }) => standing !== undefined)?.standing)
}

function packSettlement(values: ScriptValue[], { lease, to }: Settlement): void {
  if (to.op === 'delivered' && to.followers && to.followers.length > 0)
    values.push(lease, 'deliveredAll', 0, packFollowers(to.followers))
  else values.push(lease, to.op, ...packTo(to))
}

/** Each delivery is preceded by its length in a byte. */
function packFollowers(followers: Buffer[]): Buffer {
  return Buffer.concat(followers.flatMap((delivery) => [Buffer.from([delivery.length]), delivery]))
}

/** Ms and text, in the script's order. */
function packTo(to: SettleTo): readonly [] | [number, string] {
  switch (to.op) {
    case 'delivered':
    case 'deadLettered':
    case 'quarantined':
    case 'returnUncounted':
    case 'continueClaim':
      return NOTHING
    case 'returnToLane':
      return [to.delayMs ?? 0, '']
    case 'awaitKey':
      return [to.delayMs, '']
    case 'block':
      return [to.delayMs, to.credential]
    case 'awaitDlq':
      return [to.delayMaxMs, '']
    case 'retry':
      return [to.delayMs, packState(to.state)]
    case 'declareDead':
      return [to.leaseMs, packState(to.state)]
    case 'discard':
      return [0, to.cause]
  }
}
