/**
 * Loads the signer of a process when it is first needed. If no key pair is stored, the process makes a pair for all
 * processes. It publishes the certificate before it signs anything.
 *
 * If the pair cannot be loaded, callers get an error after one try. There is at most one try a second, however many
 * callers there are.
 *
 * While it signs, it checks once a minute that pair and certificate are still in Redis, and stores them again if they
 * are lost or damaged. A Redis that was emptied, or set back by a failover, may have lost both. Without this check,
 * subscribers could not get the certificate, and the next process would make another pair, or could not sign.
 */
import { Signer } from './signer.ts'
import { certificateName, checkedPair, createSigningPair, type SigningPair } from './signing-pair.ts'

const PAIR_RETRY_MS = 1_000
const PAIR_CHECK_MS = 60_000

/** The storage of the pair with which all processes sign. */
export interface SigningPairs {
  /** null: none is stored yet. */
  read(): Promise<SigningPair | null>
  /** Stores the pair if none is stored. Returns the stored one. */
  offer(pair: SigningPair): Promise<SigningPair>
  /** Stores the pair if none is stored, or none that can be read. Returns the stored one. */
  restore(pair: SigningPair): Promise<SigningPair>
  /** Publishes the certificate. Every process that serves certificates then has it. */
  publish(name: string, certificate: string): Promise<void>
}

interface SigningKeyOptions {
  pairs: SigningPairs
  /** An operator's own pair, already checked. Absent: the pair that `pairs` stores. */
  pair?: SigningPair | undefined
  /** The time between two tries to load the pair. */
  retryMs?: number
  /** Pause between two checks of the stored pair. */
  renewMs?: number
  /** Called at every try to load the pair. */
  onState?: (state: 'up' | 'down', error?: unknown) => void
}

export class SigningKey {
  readonly #options: SigningKeyOptions
  #signer: Signer | undefined
  #pair: SigningPair | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<Signer> | undefined
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(options: SigningKeyOptions) {
    this.#options = options
  }

  /** The signer, once it is loaded. */
  get signer(): Signer | undefined {
    return this.#signer
  }

  /** The last try to load the pair failed, so nothing can be signed now. */
  get down(): boolean {
    return this.#signer === undefined && this.#failedAt > Number.NEGATIVE_INFINITY
  }

  /** Rejects with the reason why the pair cannot be loaded. */
  load(): Promise<Signer> {
    if (this.#signer) return Promise.resolve(this.#signer)
    this.#loading ??= this.#try().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Called with every signature. It never rejects. */
  async renew(): Promise<void> {
    const { renewMs = PAIR_CHECK_MS } = this.#options
    const now = performance.now()
    if (!this.#pair || now - this.#renewedAt < renewMs) return
    this.#renewedAt = now
    try {
      await this.#renew(this.#pair)
    } catch {
      // Redis is unreachable, which is reported elsewhere. The loaded pair still signs, and the next check follows.
    }
  }

  async #renew(pair: SigningPair): Promise<void> {
    await this.#publish(pair)
    const shared = this.#options.pair ?? checkedPair(await this.#options.pairs.restore(pair))
    if (shared.certificate === pair.certificate) return
    await this.#take(shared)
  }

  async #take(pair: SigningPair): Promise<Signer> {
    const signer = new Signer(pair)
    await this.#publish(pair)
    this.#signer = signer
    this.#pair = pair
    return signer
  }

  #publish({ certificate }: SigningPair): Promise<void> {
    return this.#options.pairs.publish(certificateName(certificate), certificate)
  }

  async #try(): Promise<Signer> {
    const pauseMs = this.#failedAt + (this.#options.retryMs ?? PAIR_RETRY_MS) - performance.now()
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    try {
      const pair = this.#options.pair ?? (await this.#sharedPair())
      const signer = await this.#take(pair)
      this.#renewedAt = performance.now()
      this.#options.onState?.('up')
      return signer
    } catch (error) {
      this.#failedAt = performance.now()
      this.#options.onState?.('down', error)
      throw error
    }
  }

  async #sharedPair(): Promise<SigningPair> {
    const { pairs } = this.#options
    return checkedPair((await pairs.read()) ?? (await pairs.offer(await createSigningPair())))
  }
}
