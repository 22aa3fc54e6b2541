/** The texts of all messages that workers deliver at this moment, from Redis. */
import { Lanes, type Redis, SHARD_COUNT, shardBase } from '@fantail/store'
import { DISPATCH_JOBS } from '../redis/job-locks.ts'

/** Reads started jobs and deliveries in flight. A message on its way from a job to a lane is in its job. */
export async function textsUnderWay(redis: Redis): Promise<Set<string>> {
  // Redis answers this when it has handled all that stopped workers have sent.
  await redis.ping()
  const inJobs = await textsOfJobs(redis)
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => textsInFlight(redis, shard))
  return new Set([...inJobs, ...(await Promise.all(shards)).flat()])
}

async function textsOfJobs(redis: Redis): Promise<string[]> {
  const ids = await redis.lrange(`${DISPATCH_JOBS}:active`, 0, -1)
  const data = await Promise.all(ids.map((id) => redis.hget(`${DISPATCH_JOBS}:${id}`, 'data')))
  // Living workers may have completed their jobs meanwhile.
  return data.flatMap((text) => (text === null ? [] : (JSON.parse(text) as { m: Message[] }).m.map(textOf)))
}

async function textsInFlight(redis: Redis, shard: number): Promise<string[]> {
  const leases = await redis.keys(`${shardBase(shard)}lease:*`)
  const ids = await Promise.all(leases.map((key) => redis.zrangeBuffer(key, '0', '-1')))
  const bodies = await new Lanes(redis).bodies(shard, ids.flat())
  return bodies.flatMap((body) => (body ? textOf(JSON.parse(String(body)) as Message) : []))
}

interface Message {
  message: string
}

const textOf = ({ message }: Message) => message
