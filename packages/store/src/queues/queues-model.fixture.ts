import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { queueKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'

/** The clock of a queue in the models of queues, in seconds. */
export class ModelClock {
  now = 0
  offset = 0
  seen = 0

  /** If the clock was set back, the offset makes up for it. Only calls that write store how far the clock has come. */
  at(now: number, write: boolean): void {
    this.now = now
    const clock = now + this.offset
    const offset = clock + 1 < this.seen ? this.seen - now : this.offset
    if (!write) return
    this.offset = offset
    this.seen = Math.max(this.seen, now + offset)
  }

  get clock(): number {
    return Math.max(this.now + this.offset, this.seen)
  }
}

/**
 * Checks the groups of a standard queue. A group with visible messages has one place, by its first message. The number
 * in flight is right, and nothing is left of an idle group.
 */
export async function checkGroups(redis: Redis, arn: string): Promise<void> {
  const q = `${shardBase(shardOf(arn))}q:${await redis.hget(queueKey(arn), 'uid')}:`
  const [groupKeys, heads, noisy, ids, busy] = await Promise.all([
    redis.keys(`${q}g:*`),
    scoresOf(redis, `${q}heads`),
    scoresOf(redis, `${q}noisy`),
    redis.zrange(`${q}flight`, '0', '-1'),
    redis.hgetall(`${q}busy`),
  ])
  const [firsts, groupsInFlight] = await Promise.all([
    Promise.all(groupKeys.map((key) => redis.zrange(key, '0', '0', 'WITHSCORES'))),
    Promise.all(ids.map((id) => redis.hget(`${q}i:${id}`, 'g'))),
  ])
  const lines = Object.fromEntries(
    groupKeys.map((key, i) => [key.slice(`${q}g:`.length), Number(firsts[i]?.[1])]),
  )
  expect({ ...heads, ...noisy }, 'places of groups').toEqual(lines)
  expect(Object.keys(heads).filter((group) => group in noisy)).toEqual([])

  const flying: Record<string, number> = {}
  for (const group of groupsInFlight) if (group !== null) flying[group] = (flying[group] ?? 0) + 1
  const counted = Object.entries(busy).map(([group, text]) => [group, Number(text.split(' ')[0])] as const)
  const groups = counted.filter(([group]) => group !== '')
  expect(Object.fromEntries(groups.filter(([, n]) => n > 0)), 'in flight').toEqual(flying)
  expect(groups.filter(([group, n]) => n === 0 && !(group in lines))).toEqual([])
}

async function scoresOf(redis: Redis, key: string): Promise<Record<string, number>> {
  const flat = await redis.zrange(key, '0', '-1', 'WITHSCORES')
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, Number(flat[i + 1])]] : [])))
}
