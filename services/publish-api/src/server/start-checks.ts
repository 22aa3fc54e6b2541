/**
 * Checks the API's Redis: it must be of the kind that the settings name, keep its data, have a format that this release
 * knows, and have only secrets that a key of this process can open. While Redis is unreachable the API runs and answers
 * 503. If a problem is found when Redis answers, the process ends, as at the start.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Checks,
  createStartSteps,
  type Logger,
  type ServiceConnections,
  whenReady,
} from '@fantail/runtime'
import { type Redis, VaultKeys } from '@fantail/store'
import type { Vault } from '@fantail/vault'

/** If Redis is unreachable, the start waits no longer than this. */
const START_WAIT_MS = 2_000

interface StartChecks {
  connections: Pick<ServiceConnections, 'redis' | 'whenChecked'>
  vault: Vault | undefined
  /** Whether all processes share the vault's key. */
  checkMasterKey: boolean
  /** Rejects with an UnusableDataError if this process must not use Redis. */
  checkData: () => Promise<void>
  /** Rejects with a TravelledDataError if the API must not use the data. */
  joinTravel: () => Promise<void>
  log: Logger
  /** Called with problems that are found after the start. */
  fail: (error: unknown) => void
}

/** Rejects if there is a problem. Resolves if there is none, or if none is known yet. */
export async function checkStart(checks: StartChecks): Promise<void> {
  const { log, fail } = checks
  const checked = check(checks)
  const waiting = new AbortController()
  const late = delay(START_WAIT_MS, true, { signal: waiting.signal }).catch(() => false)
  try {
    const isLate = await Promise.race([checked.then(() => false), late])
    if (!isLate) return
    log.warn(
      { detail: `Redis does not answer for ${START_WAIT_MS} ms; requests get 503 until it does` },
      'redis.awaited',
    )
    checked.catch(fail)
  } finally {
    waiting.abort()
  }
}

async function check({ connections, vault, checkMasterKey, log, ...checks }: StartChecks): Promise<void> {
  await connections.whenChecked()
  const step = createStartSteps({ log, what: 'start_checks' })
  await step(checks.checkData)
  await step(checks.joinTravel)
  if (!checkMasterKey) return
  await step(() => useMasterKeys(connections.redis, vault))
}

async function useMasterKeys(redis: Redis, vault: Vault | undefined): Promise<void> {
  const keys = new VaultKeys(redis)
  await keys.check(vault?.keyIds ?? [])
  if (vault) await keys.add(vault.keyId)
}

/**
 * Waits for Redis before the process listens. An API of `fantail all` gets requests as soon as it listens, although the
 * one that it replaces could still answer them. Without a connection it would refuse them.
 */
export function whenConnected(checks: Checks): Promise<void> {
  return whenReady(checks, AbortSignal.timeout(START_WAIT_MS))
}
