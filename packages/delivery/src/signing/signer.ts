/**
 * Signs outside of the event loop: `crypto.sign` with a callback runs on libuv's thread pool. Name look-ups and file
 * reads share that pool, so only a part of its threads signs at a time. Further signatures wait here in order.
 * RSASSA-PKCS1-v1_5 is deterministic, so a repeated signature is the same.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { TopicRecord } from '@fantail/contracts'
import { certificatePath, type SigningPair } from './signing-pair.ts'

/** `1` is SHA-1, `2` SHA-256. */
export type SignatureVersion = '1' | '2'

export interface Signature {
  version: SignatureVersion
  /** Base64. */
  value: string
  certificateUrl: string
}

/** undefined: the topic's messages are not signed. Messages of FIFO topics never are. */
export function signatureVersionOf({
  signing,
  fifo,
  attributes,
}: Pick<TopicRecord, 'signing' | 'fifo' | 'attributes'>): SignatureVersion | undefined {
  if (signing !== 'sns' || fifo) return undefined
  return attributes.SignatureVersion === '2' ? '2' : '1'
}

const DIGESTS: Record<SignatureVersion, string> = { '1': 'sha1', '2': 'sha256' }
/** The default number of threads in libuv. */
const THREADS_DEFAULT = 4

interface Waiting {
  text: string
  version: SignatureVersion
  resolve(signature: string): void
  reject(error: Error): void
}

export class Signer {
  /** Path at which the certificate is served, with a slash at its start. */
  readonly certificatePath: string
  readonly #key: KeyObject
  readonly #atOnceMax: number
  readonly #waiting: Waiting[] = []
  #running = 0

  /** Throws if the pair's key cannot be read. */
  constructor(pair: SigningPair, { atOnceMax = halfOfThreads() }: { atOnceMax?: number } = {}) {
    this.#key = createPrivateKey(pair.privateKey)
    this.certificatePath = certificatePath(pair.certificate)
    this.#atOnceMax = atOnceMax
  }

  /**
   * Number of requested signatures that are not made yet. Callers limit it, because they have a limited number of
   * messages.
   */
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

/** Half of this process's thread pool. libuv reads the pool's size from this variable. */
function halfOfThreads(): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || THREADS_DEFAULT
  return Math.max(1, Math.floor(threads / 2))
}
