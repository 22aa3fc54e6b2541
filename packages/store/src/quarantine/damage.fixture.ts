/** Damages one stored value, as a flipped bit, a lost member, a cut text or a key of another type would. */
import type { Redis } from 'ioredis'

export interface Damage {
  /** Chooses the key, the member, and the place in the value. */
  key: number
  member: number
  at: number
  how: 'bit' | 'lost' | 'cut' | 'type'
}

/** Resolves with the damaged key, and with what was done. */
export async function damageOne(redis: Redis, keys: string[], damage: Damage): Promise<[string, string]> {
  const key = keys[damage.key % keys.length] ?? ''
  if (damage.how === 'type') {
    const isText = (await redis.type(key)) === 'string'
    await redis.del(key)
    await (isText ? redis.rpush(key, 'x') : redis.set(key, 'x'))
    return [key, `${key} has another type`]
  }
  return [key, `${key}: ${damage.how} ${await DAMAGES[await redis.type(key)]?.(redis, key, damage)}`]
}

type Apply = (redis: Redis, key: string, damage: Damage) => Promise<string>

const DAMAGES: Record<string, Apply> = {
  async string(redis, key, damage) {
    const changed = changedBytes((await redis.getBuffer(key)) ?? Buffer.alloc(0), damage)
    if (changed) await redis.set(key, changed)
    else await redis.del(key)
    return ''
  },
  async hash(redis, key, damage) {
    const fields = await redis.hkeysBuffer(key)
    const field = fields.sort(Buffer.compare)[damage.member % fields.length] ?? Buffer.alloc(0)
    const changed = changedBytes((await redis.hgetBuffer(key, field)) ?? Buffer.alloc(0), damage)
    if (changed) await redis.hset(key, field, changed)
    else await redis.hdel(key, field)
    return String(field)
  },
  async zset(redis, key, damage) {
    const flat = await redis.zrangeBuffer(key, '0', '-1', 'WITHSCORES')
    const i = 2 * (damage.member % (flat.length / 2))
    const [member, score] = [flat[i] ?? Buffer.alloc(0), Number(flat[i + 1])]
    const changed = changedBytes(member, damage)
    await redis.zrem(key, member)
    if (changed) await redis.zadd(key, score, changed)
    return member.toString('hex')
  },
  async set(redis, key, damage) {
    const [member = Buffer.alloc(0)] = await redis.smembersBuffer(key)
    const changed = changedBytes(member, damage)
    await redis.srem(key, member)
    if (changed) await redis.sadd(key, changed)
    return String(member)
  },
  async list(redis, key, damage) {
    const changed = changedBytes((await redis.lindexBuffer(key, 0)) ?? Buffer.alloc(0), damage)
    if (changed) await redis.lset(key, 0, changed)
    else await redis.lpop(key)
    return 'head'
  },
}

/** undefined: nothing is left. */
function changedBytes(bytes: Buffer, { how, at }: Damage): Buffer | undefined {
  if (how === 'lost' || bytes.length === 0) return undefined
  const place = at % bytes.length
  if (how === 'cut') return bytes.subarray(0, place)
  const changed = Buffer.from(bytes)
  changed[place] = (changed[place] ?? 0) ^ (1 << (at % 8))
  return changed
}
