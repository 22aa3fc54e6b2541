/**
 * Roles that one process has at a time. A role is a key with a lifetime. When it expires, the first process that tries
 * gets the role.
 */
import type { Redis } from 'ioredis'
import { roleKey } from '../keys/keys.ts'
import { readScript, runScript } from './scripts.ts'

const TAKE = readScript('take-role-1')

/**
 * Returns true if this process has the role for the next `forMs`. It works when memory is full, because the role may
 * free some.
 */
export async function takeRole(redis: Redis, role: string, forMs: number): Promise<boolean> {
  return (await runScript(redis, TAKE, { role: roleKey(role), forMs })) === 1
}

/** Like `takeRole` for a role that any process may prolong, also when memory is full. */
export async function keepRole(redis: Redis, role: string, forMs: number): Promise<void> {
  if (!(await takeRole(redis, role, forMs))) await redis.pexpire(roleKey(role), forMs)
}
