/** Reports the answers of endpoints to lanes with a retry mode or a circuit breaker. */
import type { Redis } from 'ioredis'
import { shardBase } from '../../keys/shards.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import type { LaneResult, NotedResults } from '../records/lane-records.ts'
import { readTime, type Wakes } from '../records/lane-replies.ts'

const REPORT = readScript('report-answers-1')

export async function reportAnswers(
  redis: Redis,
  shard: number,
  results: LaneResult[],
): Promise<NotedResults & { woke: Wakes }> {
  const reply = await runScript(redis, REPORT, {
    base: shardBase(shard),
    shard,
    results: results.map(({ subscriptionId: id, answered: what, cost }) => ({ id, what, cost })),
  })
  const [due, woke, ...circuits] = reply as [Buffer, number, ...(number | Buffer)[]]
  return {
    circuitOpen: circuits.map((circuit) => circuit === 1),
    circuitClosedAt: circuits.map((circuit) => (typeof circuit === 'number' ? null : readTime(circuit))),
    nextDueAt: readTime(due),
    woke,
  }
}
