/** Settling: what became of claims; acts only where the lease is still the one that the claim returned. */
import type { Redis } from 'ioredis'
import { packState, type Settlement, type SettleResult, type SettleTo } from './lane-records.ts'
import { readTime } from './lane-replies.ts'
import { readScript, runScript, type ScriptValue } from './scripts.ts'
import { shardBase } from './shards.ts'

const SETTLE = readScript('settle-deliveries-1')

export async function settleDeliveries(
  redis: Redis,
  shard: number,
  settlements: Settlement[],
): Promise<SettleResult & { woke: boolean }> {
  const args = [shard, ...settlements.flatMap(packSettlement)]
  const reply = await runScript(redis, SETTLE, [shardBase(shard)], args)
  const [due, woke, ...outcomes] = reply as [Buffer, number, ...(number | Buffer)[]]
  return {
    accepted: outcomes.map((outcome) => outcome !== 0),
    leases: outcomes.map((outcome) => (typeof outcome === 'number' ? null : outcome.toString())),
    nextDueAt: readTime(due),
    woke: woke === 1,
  }
}

function packSettlement({ subscriptionId, delivery, lease, to }: Settlement): ScriptValue[] {
  return [subscriptionId, delivery, lease, to.op, ...packTo(to)]
}

/** Ms, text; the script knows no other order. */
function packTo(to: SettleTo): [number, string] {
  switch (to.op) {
    case 'delivered':
    case 'forget':
    case 'return':
      return [0, '']
    case 'retry':
      return [to.delayMs, packState(to.state)]
    case 'markDead':
      return [to.leaseMs, packState(to.state)]
    case 'discard':
      return [0, to.cause]
    case 'aside':
      return [0, to.detail]
  }
}
