/**
 * The signer of a process. It is loaded when first needed, and kept. The first process that finds no pair makes one for
 * all. The certificate is published before anything is signed with its key.
 *
 * If the pair cannot be loaded, callers are refused after one try. Tries are a second apart, however many callers there
 * are.
 *
 * While it signs, it checks once a minute that pair and certificate still exist. A Redis that was emptied, or set back
 * by a failover, would otherwise serve no certificate for new signatures, and give the next process another pair.
 */
import { Signer } from './signer.ts'
import { certificateName, checkedPair, createSigningPair, type SigningPair } from './signing-pair.ts'

const PAIR_RETRY_MS = 1_000
const PAIR_CHECK_MS = 60_000

/** Where the pair stands that all processes sign with. */
export interface SigningPairs {
  /** null where there is none yet. */
  read(): Promise<SigningPair | null>
  /** Keeps the pair where there is none, and answers the one that holds. */
  offer(pair: SigningPair): Promise<SigningPair>
  /** From now on every process that serves certificates has this one too. */
  publish(name: string, certificate: string): Promise<void>
}

interface SigningKeyOptions {
  pairs: SigningPairs
  /** An operator's own pair, checked; else the one that `pairs` keeps. */
  pair?: SigningPair | undefined
  /** Between two tries. */
  retryMs?: number
  /** Between two looks at what is kept. */
  renewMs?: number
  /** Called at every try. */
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

  /** The last try failed: nothing can be signed now. */
  get down(): boolean {
    return this.#signer === undefined && this.#failedAt > Number.NEGATIVE_INFINITY
  }

  /** Rejects with what kept the pair from being had. */
  load(): Promise<Signer> {
    if (this.#signer) return Promise.resolve(this.#signer)
    this.#loading ??= this.#try().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Called with every signature; never rejects. */
  async renew(): Promise<void> {
    const { renewMs = PAIR_CHECK_MS } = this.#options
    const now = performance.now()
    if (!this.#pair || now - this.#renewedAt < renewMs) return
    this.#renewedAt = now
    try {
      await this.#renew(this.#pair)
    } catch {
      // Redis is away, which is reported elsewhere. The loaded pair signs as well, and the next check follows.
    }
  }

  async #renew(pair: SigningPair): Promise<void> {
    await this.#publish(pair)
    const held = this.#options.pair ?? (await this.#sharedPair(pair))
    if (held.certificate === pair.certificate) return
    await this.#take(held)
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

  /** `own` takes the place of one that is lost. */
  async #sharedPair(own?: SigningPair): Promise<SigningPair> {
    const { pairs } = this.#options
    return checkedPair((await pairs.read()) ?? (await pairs.offer(own ?? (await createSigningPair()))))
  }
}
