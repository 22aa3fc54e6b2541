/**
 * The data about mails that all processes share: the suppression list, the rates of domains, and the key that signs
 * links.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { KeyLimits } from '../access/key-limits.ts'
import { MAIL_BASE } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { Suppressions } from './suppressions.ts'

interface MailStateOptions {
  /** Epoch ms. */
  clock: () => number
  /** Called if an address that does not exist could not be added to the suppression list. */
  onProblem(error: unknown): void
}

export class MailState {
  readonly #suppressions: Suppressions
  readonly #rates: KeyLimits
  readonly #linkKey: LinkKey
  readonly #options: MailStateOptions

  constructor(redis: Redis, options: MailStateOptions) {
    this.#suppressions = new Suppressions(redis)
    this.#rates = new KeyLimits(redis, MAIL_BASE)
    this.#linkKey = new LinkKey(redis)
    this.#options = options
  }

  linkKey(): Promise<KeyObject> {
    return this.#linkKey.get()
  }

  isSuppressed(address: string): Promise<boolean> {
    return this.#suppressions.has(address)
  }

  /**
   * Adds the address to the suppression list. If this fails, the failure is only reported, because the delivery ends in
   * any case.
   */
  async suppress(address: string, detail: string): Promise<void> {
    const { clock, onProblem } = this.#options
    try {
      const suppression = { address, reason: 'bounce' as const, detail, suppressedAt: clock() }
      const outcome = await this.#suppressions.add(suppression)
      if (outcome === 'full') onProblem(new Error('the suppression list is full'))
    } catch (error) {
      onProblem(error)
    }
  }

  /**
   * Asks to send one mail to the domain. Returns 0 if the domain's rate allows it now, else the ms until the rate
   * allows the next mail.
   */
  async takeOfDomain(domain: string, ratePerSecond: number): Promise<number> {
    const { given, nextInMs } = await this.#rates.take({ keyId: domain, ratePerSecond, wanted: 1 })
    return given > 0 ? 0 : Math.max(1, nextInMs)
  }
}

/** The key that signs links to unsubscribe. The first process that needs it makes and stores it. */
const KEEP = readScript('keep-mail-key-1')
const LINK_KEY_BYTES = 32

export class LinkKey {
  readonly #redis: Redis
  #key: KeyObject | undefined

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async get(): Promise<KeyObject> {
    this.#key ??= await this.#keep()
    return this.#key
  }

  async #keep(): Promise<KeyObject> {
    const offered = randomBytes(LINK_KEY_BYTES).toString('base64')
    const kept = String(await runScript(this.#redis, KEEP, { base: MAIL_BASE, offered }))
    const key = Buffer.from(kept, 'base64')
    if (key.length !== LINK_KEY_BYTES) throw new Error('the key of unsubscribe links in Redis cannot be read')
    return createSecretKey(key)
  }
}
