/**
 * Records in Redis which credentials of the operator are broken. A credential is broken if a mail server refuses the
 * password, for example, or if a key has expired. A missing setting of the service counts as a broken credential too.
 *
 * No attempt with a broken credential can succeed. The workers share the records, and together make one attempt a
 * minute with each broken credential: the probe. All other lanes that need the credential wait. A credential is
 * recorded under a name without secrets, such as `smtp:mail.example.com`.
 *
 *   no record ──broke()──▶ broken ──worked()──▶ no record
 *                          ▲    │ ask(), once in probeEveryMs: a probe
 *                          └────┘ broke()
 */
import type { Redis } from 'ioredis'
import { CREDENTIALS_BASE, credentialKey, WAKE_CREDENTIALS } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const ASK = readScript('ask-credential-1')
const BREAK = readScript('break-credential-1')

/** Time between two probes of a broken credential, in all workers. */
const PROBE_EVERY_MS = 60_000
/**
 * A record is kept for this many probe intervals after its last use. Without any use the credential's lanes are gone,
 * or the credential was renamed.
 */
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

  /** The time between two probes. */
  get probeEveryMs(): number {
    return this.#probeEveryMs
  }

  /**
   * Whether an attempt may use the credential. `probe`: the credential is broken, and this attempt tests it. `waitMs`:
   * the time until the next probe.
   */
  async ask(name: string): Promise<CredentialState> {
    const waitMs = (await runScript(this.#redis, ASK, { ...this.#times(), name })) as number
    if (waitMs < 0) return 'works'
    return waitMs === 0 ? 'probe' : { waitMs }
  }

  /** Records that an attempt failed because of the credential. Returns true if the credential had no record. */
  async broke(name: string, detail: string): Promise<boolean> {
    return (await runScript(this.#redis, BREAK, { ...this.#times(), name, detail })) === 1
  }

  /**
   * Deletes the record after an attempt succeeded, and notifies the workers. Returns false if the credential had no
   * record.
   */
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
