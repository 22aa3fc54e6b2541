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
  const lines: Record<string, number> = {}
  for (const key of await redis.keys(`${q}g:*`)) {
    lines[key.slice(`${q}g:`.length)] = Number((await redis.zrange(key, '0', '0', 'WITHSCORES'))[1])
  }
  const [heads, noisy] = [await scoresOf(redis, `${q}heads`), await scoresOf(redis, `${q}noisy`)]
  expect({ ...heads, ...noisy }, 'places of groups').toEqual(lines)
  expect(Object.keys(heads).filter((group) => group in noisy)).toEqual([])

  const flying: Record<string, number> = {}
  for (const id of await redis.zrange(`${q}flight`, '0', '-1')) {
    const group = await redis.hget(`${q}i:${id}`, 'g')
    if (group !== null) flying[group] = (flying[group] ?? 0) + 1
  }
  const busy = await redis.hgetall(`${q}busy`)
  const counted = Object.entries(busy).map(([group, text]) => [group, Number(text.split(' ')[0])] as const)
  const groups = counted.filter(([group]) => group !== '')
  expect(Object.fromEntries(groups.filter(([, n]) => n > 0)), 'in flight').toEqual(flying)
  expect(groups.filter(([group, n]) => n === 0 && !(group in lines))).toEqual([])
}

async function scoresOf(redis: Redis, key: string): Promise<Record<string, number>> {
  const flat = await redis.zrange(key, '0', '-1', 'WITHSCORES')
  return Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, Number(flat[i + 1])]] : [])))
}
