/**
 * The signer of a process: nothing until it is first needed, then loaded once and kept. The pair that all processes share
 * is made by the first that finds none, and the certificate is published before anything is signed with its key.
 *
 * Where the pair cannot be had, those who ask are refused after one try and tries are a second apart, however many ask.
 */
import { Signer } from './signer.ts'
import { certificateName, checkedPair, createSigningPair, type SigningPair } from './signing-pair.ts'

const RETRY_MS = 1_000

/** Where the pair stands that all processes sign with. */
export interface SigningPairs {
  /** null where there is none yet. */
  read(): Promise<SigningPair | null>
  /** Keeps the pair where there is none, and answers the one that holds. */
  offer(pair: SigningPair): Promise<SigningPair>
  /** From now on whoever serves certificates has this one too. */
  publish(name: string, certificate: string): Promise<void>
}

export interface SigningKeyOptions {
  pairs: SigningPairs
  /** An operator's own pair, checked; else the one that `pairs` keeps. */
  pair?: SigningPair | undefined
  /** Between two tries. */
  retryMs?: number
  /** Told with every try. */
  onState?: (state: 'up' | 'down', error?: unknown) => void
}

export class SigningKey {
  readonly #options: SigningKeyOptions
  #signer: Signer | undefined
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

  async #try(): Promise<Signer> {
    const pauseMs = this.#failedAt + (this.#options.retryMs ?? RETRY_MS) - performance.now()
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    try {
      const pair = this.#options.pair ?? (await this.#sharedPair())
      const signer = new Signer(pair)
      await this.#options.pairs.publish(certificateName(pair.certificate), pair.certificate)
      this.#signer = signer
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
