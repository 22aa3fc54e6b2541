/** Inputs for tests of topics and subscriptions, and a check that everything stored is consistent. */
import { topicArn } from '@fantail/contracts'
import { bitsKey } from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { endpointsKey, sliceKey, subscriptionsKey, tokensKey, topicKey, topicsKey } from '../keys/keys.ts'
import { SHARD_COUNT, shardBase, shardOf, sliceShard } from '../keys/shards.ts'
import type { ScriptName } from '../redis/script-classes.ts'
import { readScript, type ScriptValue, sendScript } from '../redis/scripts.ts'
import {
  endpointHash,
  idBytes,
  subscriptionFields,
  unpackSubscription,
} from '../slices/subscriptions-record.ts'
import type { NewSubscription } from './subscriptions.ts'

export const topicName = (name: string) => topicArn(name)

export function newSubscription(
  arn: string,
  endpoint: number | string,
  set: Partial<NewSubscription> = {},
): NewSubscription {
  return {
    topicArn: arn,
    protocol: 'https',
    endpoint: typeof endpoint === 'number' ? `https://example.com/hooks/${endpoint}` : endpoint,
    rawMessageDelivery: false,
    deliveryPolicy: null,
    redrivePolicy: null,
    maxInFlight: 32,
    confirmation: 'none',
    attributes: {},
    ...set,
  }
}

/** Runs an action on a connection on which one script fails, as if the process had died before it. */
export async function cutShort(
  url: string,
  script: string,
  action: (broken: Redis) => Promise<unknown>,
): Promise<void> {
  const broken = new Redis(url)
  const refuse = () => Promise.reject(new Error('cut short'))
  Object.assign(broken, { [script]: refuse, [`${script}Buffer`]: refuse })
  const result = await action(broken).catch((error: unknown) => error)
  broken.disconnect()
  if (!(result instanceof Error && result.message === 'cut short'))
    throw new Error(`${script} was not reached`)
}

/** A connection on which one script waits until it is released, as if the process were frozen before it. */
export function holdBefore(redis: Redis, name: ScriptName) {
  const connection = redis.duplicate()
  const script = readScript(name)
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const stopped = async (...args: ScriptValue[]) => {
    reached.resolve()
    await released.promise
    return sendScript(redis, script, args.slice(0, script.keys), args.slice(script.keys))
  }
  Object.assign(connection, { [name]: stopped, [`${name}Buffer`]: stopped })
  return {
    connection,
    reached: reached.promise,
    release: () => released.resolve(),
    [Symbol.dispose]: () => connection.disconnect(),
  }
}

/** The inconsistencies in the store, while no change is under way. The list must be empty. */
export async function indexFaults(redis: Redis, sliceSubscriptionsMax = 3): Promise<string[]> {
  const faults: string[] = []
  const known = new Set<string>()
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    const base = shardBase(shard)
    for (const arn of await redis.zrangebylex(topicsKey(base), '-', '+')) {
      faults.push(...(await topicFaults(redis, arn, { known, sliceSubscriptionsMax })))
    }
    if (await redis.exists(`${base}unfinished`)) faults.push(`unfinished changes in shard ${shard}`)
  }
  for (const key of await redis.keys('ft:*')) {
    const lane = /:lane:(.*)$/.exec(key)?.[1]
    if (lane && !known.has(lane)) faults.push(`a lane of nothing: ${key}`)
    const slice = /:(?:subs|slice|bits|ends|tokens):(.*)$/.exec(key)?.[1]
    if (slice && !known.has(slice)) faults.push(`left behind: ${key}`)
    if (key.endsWith(':expiries')) {
      for (const id of await redis.zrangebyscore(key, '-inf', '+inf'))
        if (!known.has(id)) faults.push(`expiry of nothing: ${id}`)
    }
  }
  return faults
}

async function topicFaults(
  redis: Redis,
  arn: string,
  { known, sliceSubscriptionsMax }: { known: Set<string>; sliceSubscriptionsMax: number },
): Promise<string[]> {
  const faults: string[] = []
  const check = (what: string, actual: unknown, wanted: unknown) => {
    const texts = [JSON.stringify(actual), JSON.stringify(wanted)]
    if (texts[0] !== texts[1]) faults.push(`${arn} ${what}: ${texts[0]} instead of ${texts[1]}`)
  }
  const topic = await redis.hgetall(topicKey(arn))
  const uid = topic.uid ?? ''
  known.add(uid)
  const endpoints = new Map<string, string>()
  let tokens = 0
  const counts = JSON.parse(topic.slices ?? '') as number[]
  for (const [number, count] of counts.entries()) {
    const base = shardBase(sliceShard(arn, number))
    const sliceId = `${uid}.${number}`
    known.add(sliceId)
    const subs = await redis.hgetall(subscriptionsKey(base, sliceId))
    check(`count of slice ${number}`, count, Object.keys(subs).length)
    const slice = await redis.hgetall(sliceKey(base, sliceId))
    const tally = { active: 0, pending: 0, paused: 0 }
    const bits = new Set<number>()
    for (const [id, text] of Object.entries(subs)) {
      known.add(id)
      const record = unpackSubscription(text, { id, topicArn: arn, key: 'test' })
      const fields = subscriptionFields(record)
      if (fields.counted) tally[fields.counted] += 1
      bits.add(record.bit)
      endpoints.set(
        endpointHash(record.protocol, record.endpoint).toString('hex'),
        idBytes(id).toString('hex'),
      )
      const lane = await redis.hmget(`${base}lane:${id}`, 's', 'r', 'c', 'p', 'q', 'g', 'gr')
      const wanted = [sliceId, fields.rate, String(fields.maxInFlight), fields.paused, fields.hasDlq, null]
      wanted.push(fields.groupRates || null)
      check(`lane of ${id}`, lane, wanted)
      const expires = await redis.zscore(`${base}expiries`, id)
      check(`expiry of ${id}`, expires ?? '', fields.expires)
      if (record.token) {
        tokens += 1
        const hash = fields.tokenHash
        const found = await redis.hgetBuffer(tokensKey(shardBase(shardOf(arn)), uid), hash)
        check(`token of ${id}`, found?.toString('hex'), idBytes(id).toString('hex'))
      }
    }
    check(`bits of slice ${number}`, bits.size, count)
    check(
      `bits below the bound in ${number}`,
      [...bits].filter((s) => s >= sliceSubscriptionsMax),
      [],
    )
    check(`bits in use of ${number}`, await redis.bitcount(bitsKey(base, sliceId)), count)
    if (count === 0 && !slice.v) continue
    const statuses = [slice['n:active'], slice['n:pending'], slice['n:paused']].map((n) => Number(n ?? 0))
    check(`statuses of slice ${number}`, statuses, [tally.active, tally.pending, tally.paused])
    const settings = [slice.topic, slice.rate, slice.ret, slice.ovr, slice.arn]
    check(`settings of slice ${number}`, settings, [topic.record, topic.rate, topic.ret, topic.ovr, arn])
  }
  const stored = await redis.hgetallBuffer(endpointsKey(shardBase(shardOf(arn)), uid))
  check('tokens', await redis.hlen(tokensKey(shardBase(shardOf(arn)), uid)), tokens)
  check('endpoints', Object.keys(stored).length, endpoints.size)
  for (const [hash, id] of endpoints) {
    const found = await redis.hgetBuffer(endpointsKey(shardBase(shardOf(arn)), uid), Buffer.from(hash, 'hex'))
    check(`endpoint ${hash}`, found?.toString('hex'), id)
  }
  return faults
}
