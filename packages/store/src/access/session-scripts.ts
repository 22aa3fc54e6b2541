/** The scripts that sessions of the console and of the portal share. `base`: the beginning of their keys. */
import type { Redis } from 'ioredis'
import { readScript, runScript } from '../redis/scripts.ts'

const MAKE = readScript('make-session-1')
const END = readScript('end-session-1')
const COUNT_LOGIN = readScript('count-login-1')

interface NewSession {
  base: string
  digest: string
  record: object
  /** The session ends after this time without a use. */
  idleMs: number
  /** Epoch ms. */
  endsAt: number
  /** Epoch ms. */
  now: number
  /** Past it, the sessions that would end first end now. */
  sessionsMax: number
}

export async function storeSession(redis: Redis, { record, ...rest }: NewSession): Promise<void> {
  await runScript(redis, MAKE, { ...rest, record: JSON.stringify(record) })
}

/** Returns false if there was no such session. */
export async function removeSession(redis: Redis, base: string, digest: string): Promise<boolean> {
  return (await runScript(redis, END, { base, digest })) === 1
}

interface Counted {
  base: string
  /** Whose uses are counted. */
  address: string
  windowMs: number
  max: number
}

/** Counts a login or another use. Returns null if it is allowed, else the ms until its window ends. */
export async function countUse(redis: Redis, { max, ...args }: Counted): Promise<number | null> {
  const [count, endsInMs] = (await runScript(redis, COUNT_LOGIN, args)) as [number, number]
  return count > max ? Math.max(0, endsInMs) : null
}
