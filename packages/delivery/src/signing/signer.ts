/**
 * Signs off the event loop: `crypto.sign` with a callback runs on libuv's thread pool. Name look-ups and file reads
 * share that pool, so signing uses a part of its threads. Further signatures wait here, first come first served.
 * RSASSA-PKCS1-v1_5 is deterministic: a repeated signature is the same.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { SignatureVersion } from './signature-version.ts'
import { certificatePath, type SigningPair } from './signing-pair.ts'

const DIGESTS: Record<SignatureVersion, string> = { '1': 'sha1', '2': 'sha256' }
/** libuv's own default. */
const THREADS_DEFAULT = 4

interface Waiting {
  text: string
  version: SignatureVersion
  resolve(signature: string): void
  reject(error: Error): void
}

export class Signer {
  /** Where the certificate is served, beginning with a slash. */
  readonly certificatePath: string
  readonly #key: KeyObject
  readonly #atOnceMax: number
  readonly #waiting: Waiting[] = []
  #running = 0

  /** Throws where the pair's key cannot be read. */
  constructor(pair: SigningPair, { atOnceMax = halfOfThreads() }: { atOnceMax?: number } = {}) {
    this.#key = createPrivateKey(pair.privateKey)
    this.certificatePath = certificatePath(pair.certificate)
    this.#atOnceMax = atOnceMax
  }

  /** Signatures asked for and not made yet. Callers bound it by what they have in hand. */
  get waiting(): number {
    return this.#waiting.length + this.#running
  }

  /** Base64. */
  sign(text: string, version: SignatureVersion): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, version, resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    while (this.#running < this.#atOnceMax) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#running++
      sign(DIGESTS[next.version], Buffer.from(next.text), this.#key, (error, signature) => {
        this.#running--
        if (error) next.reject(error)
        else next.resolve(signature.toString('base64'))
        this.#next()
      })
    }
  }
}

/** Half of this process's pool, whose size libuv reads from this variable. */
function halfOfThreads(): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || THREADS_DEFAULT
  return Math.max(1, Math.floor(threads / 2))
}
