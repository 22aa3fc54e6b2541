/**
 * Unwraps the master keys of a process. A key service that cannot be reached does not keep a process from its other
 * work, so the process starts without the key and asks again.
 *
 *   locked ──the service unwraps it──▶ unlocked, as long as the process lives
 *     ▲  │ any failure
 *     └──┘ pause of 0.5 to 30 s
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { WrappedKey } from '@fantail/vault'
import { createBackoff } from '../loops/backoff.ts'
import type { Logger } from '../loops/logger.ts'
import { createStateLog } from '../loops/state-log.ts'
import type { KeyServiceSettings } from './key-service.ts'
import { unwrapKey } from './key-services.ts'

/** How long a start waits for its keys. Past it: it goes on without them. */
const KEY_WAIT_MS = 5_000
const PAUSE_MS = { minMs: 500, maxMs: 30_000 }

/** Rejects with the first problem, after every key was tried. */
export async function unwrapAll(keys: readonly WrappedKey[], settings: KeyServiceSettings): Promise<void> {
  const locked = keys.filter(({ isLocked }) => isLocked)
  const tries = await Promise.allSettled(
    locked.map(async (key) => key.unlock(await unwrapKey(key, settings))),
  )
  for (const result of tries) if (result.status === 'rejected') throw result.reason
}

/** Resolves when the keys are unwrapped, or after KEY_WAIT_MS. It goes on to try then. */
export async function unwrapInTime(
  keys: readonly WrappedKey[],
  settings: KeyServiceSettings,
  log: Logger,
): Promise<void> {
  if (keys.length === 0) return
  const done = new AbortController()
  void keepTrying(keys, settings, log).then(() => done.abort())
  await delay(KEY_WAIT_MS, undefined, { signal: done.signal }).catch(() => undefined)
}

async function keepTrying(
  keys: readonly WrappedKey[],
  settings: KeyServiceSettings,
  log: Logger,
): Promise<void> {
  const report = createStateLog({ log, what: 'master_keys', initial: 'up' })
  const pauses = createBackoff(PAUSE_MS)
  for (;;) {
    try {
      await unwrapAll(keys, settings)
      return report('up')
    } catch (error) {
      report('down', error)
      await delay(pauses.nextMs(), undefined, { ref: false })
    }
  }
}
