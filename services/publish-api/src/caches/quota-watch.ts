/**
 * Knows which customers have stored as many bytes as their quotas allow, so that publishing can be refused without a
 * round trip. Redis is asked in the background while callers come. If no quota is exceeded, a publish costs one
 * comparison.
 */
import { QuotaExceededError, type QuotaRecord, quotaName, quotaNamesOf } from '@fantail/contracts'
import { bytesOfQuotas, type Quotas } from '@fantail/store'
import type { Log } from '../http/log.ts'
import type { SharedRead } from './shared-read.ts'

/**
 * How often stored bytes are compared with the quotas. The bytes may be up to 15 s old in addition, if reading them
 * takes long.
 */
const QUOTAS_EVERY_MS = 5_000

interface QuotaWatchOptions {
  quotas: Pick<Quotas, 'all'>
  /** By the topic's ARN. */
  storedBytes: Pick<SharedRead<Map<string, number>>, 'get'>
  /** Called at each refusal. */
  onRefused: () => void
  log: Pick<Log, 'debug'>
}

export class QuotaWatch {
  readonly #options: QuotaWatchOptions
  #full: ReadonlyMap<string, QuotaRecord> = new Map()
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(options: QuotaWatchOptions) {
    this.#options = options
  }

  /** Call it while callers come. It asks Redis only after a while, and awaits nothing. */
  check(): void {
    if (performance.now() - this.#checkedAt < QUOTAS_EVERY_MS) return
    // Without an answer, the last one holds on.
    this.refresh().catch((error: unknown) => this.#options.log.debug({ err: error }, 'quotas.read_failed'))
  }

  /** Resolves when refusals follow the present quotas. */
  async refresh(): Promise<void> {
    this.#checkedAt = performance.now()
    const { quotas, storedBytes } = this.#options
    const bounded = (await quotas.all()).filter((quota) => quota.storedBytes !== null)
    if (bounded.length === 0) {
      this.#full = new Map()
      return
    }
    const used = bytesOfQuotas(await storedBytes.get(), new Set(bounded.map(quotaName)))
    const full = bounded.filter((quota) => (used.get(quotaName(quota)) ?? 0) >= (quota.storedBytes ?? 0))
    this.#full = new Map(full.map((quota) => [quotaName(quota), quota]))
  }

  /** Throws `quota_exceeded` if the topic's messages may take no more space. */
  admit(topicArn: string): void {
    if (this.#full.size === 0) return
    for (const name of quotaNamesOf(topicArn)) {
      const quota = this.#full.get(name)
      if (quota === undefined) continue
      this.#options.onRefused()
      throw new QuotaExceededError(quota.prefix, 'storedBytes', quota.storedBytes ?? 0)
    }
  }
}
