/** Roles that one process has at a time: a key with a life time. The first process after its end takes it. */
import type { Redis } from 'ioredis'
import { roleKey } from '../keys.ts'
import { readScript, runScript } from './scripts.ts'

const TAKE = readScript('take-role-1')

/** True if this process has the role for the next `forMs`. Runs when memory is full, too: the role may free some. */
export async function takeRole(redis: Redis, role: string, forMs: number): Promise<boolean> {
  return (await runScript(redis, TAKE, { role: roleKey(role), heldMs: forMs })) === 1
}
