/** State of mail attempts that all processes share: the suppression list, the rates of domains and the key of links. */
import type { Redis } from 'ioredis'
import { KeyLimits } from '../access/key-limits.ts'
import { MAIL_BASE } from '../keys.ts'
import { MailLinkKey } from './mail-link-key.ts'
import { Suppressions } from './suppressions.ts'

interface MailStateOptions {
  /** Epoch ms. */
  clock: () => number
  /** Called if an address that a server does not know could not be added to the list. */
  onProblem(error: unknown): void
}

export class MailState {
  readonly #suppressions: Suppressions
  readonly #rates: KeyLimits
  readonly #linkKey: MailLinkKey
  readonly #options: MailStateOptions

  constructor(redis: Redis, options: MailStateOptions) {
    this.#suppressions = new Suppressions(redis)
    this.#rates = new KeyLimits(redis, MAIL_BASE)
    this.#linkKey = new MailLinkKey(redis)
    this.#options = options
  }

  linkKey(): Promise<Buffer> {
    return this.#linkKey.get()
  }

  isSuppressed(address: string): Promise<boolean> {
    return this.#suppressions.has(address)
  }

  /** The delivery ends in any case, so a failure is only reported. */
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

  /** Takes one mail from a domain's rate. Returns 0, or the ms until the next mail may be sent. */
  async takeOfDomain(domain: string, ratePerSecond: number): Promise<number> {
    const { given, nextInMs } = await this.#rates.take({ keyId: domain, ratePerSecond, wanted: 1 })
    return given > 0 ? 0 : Math.max(1, nextInMs)
  }
}
