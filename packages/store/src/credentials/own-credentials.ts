/**
 * Credentials and settings of this service's own that keep attempts from their endpoints: a password that a mail server
 * refuses, a key that has expired. All workers share what is known, so that a broken one is tried once a minute in all,
 * however many lanes wait for it. A name is a text without secrets, such as `smtp:mail.example.com`.
 *
 *   unknown ──broke──▶ broken ──worked──▶ unknown
 *                      ▲    │ asked, once in probeEveryMs: a probe
 *                      └────┘ broke
 */
import type { Redis } from 'ioredis'
import { CREDENTIALS_BASE, credentialKey, WAKE_CREDENTIALS } from '../keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const ASK = readScript('ask-credential-1')
const BREAK = readScript('break-credential-1')

/** @limit Time between two probes of a broken credential, in all workers. */
const PROBE_EVERY_MS = 60_000
/** If nobody asks for a credential for so many probes, it is forgotten: its lanes are gone, or it was renamed. */
const KEPT_PROBES = 10

type CredentialState = 'works' | 'probe' | { waitMs: number }

export class Credentials {
  readonly #redis: Redis
  readonly #probeEveryMs: number

  /** `probeEveryMs`: a minute by default. */
  constructor(redis: Redis, { probeEveryMs = PROBE_EVERY_MS }: { probeEveryMs?: number | undefined } = {}) {
    this.#redis = redis
    this.#probeEveryMs = probeEveryMs
  }

  /** Between two probes. */
  get probeEveryMs(): number {
    return this.#probeEveryMs
  }

  /** Whether an attempt may use the credential. `probe`: this attempt is the only one until the next probe. */
  async ask(name: string): Promise<CredentialState> {
    const waitMs = (await runScript(this.#redis, ASK, { ...this.#times(), name })) as number
    if (waitMs < 0) return 'works'
    return waitMs === 0 ? 'probe' : { waitMs }
  }

  /** An attempt failed by it. True if nothing was known against it. */
  async broke(name: string, detail: string): Promise<boolean> {
    return (await runScript(this.#redis, BREAK, { ...this.#times(), name, detail })) === 1
  }

  /** An attempt succeeded with it, which the workers are notified of. False if nothing was known against it. */
  async worked(name: string): Promise<boolean> {
    if ((await this.#redis.del(credentialKey(name))) === 0) return false
    await this.#redis.publish(WAKE_CREDENTIALS, name)
    return true
  }

  #times() {
    const keptMs = KEPT_PROBES * this.#probeEveryMs
    return { base: CREDENTIALS_BASE, probeEveryMs: this.#probeEveryMs, keptMs }
  }
}
