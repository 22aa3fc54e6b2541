/** Roles that one process at a time has: a key with an end, taken by whoever comes first after it. */
import type { Redis } from 'ioredis'

/** True where this process has the role for the next `forMs`. */
export async function takeRole(redis: Redis, role: string, forMs: number): Promise<boolean> {
  return (await redis.set(`ft:{leader}:${role}`, '1', 'PX', forMs, 'NX')) === 'OK'
}
