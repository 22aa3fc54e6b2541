/**
 * The beginning of an endpoint's answer as text, for logs and records. It is decompressed, never longer than requested,
 * and has no tokens of links.
 */
import { StringDecoder } from 'node:string_decoder'
import { constants, unzipSync } from 'node:zlib'
import { withoutTokens } from '@fantail/policy'

/**
 * Bytes into which decompression may turn one byte of an answer: the highest ratio of the content encodings that
 * Fantail's requests accept. Past it: the text names the encoding only.
 */
const INFLATION_MAX = 1_032
const COMPRESSED = /^(x-)?(gzip|deflate)$/i

export class ResponseText {
  readonly #bytesMax: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #encoding: string | undefined

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Begins a new answer, and drops the text of an earlier one. */
  begin(encoding: string | string[] | undefined): void {
    this.#encoding = encoding === undefined ? undefined : String(encoding)
    this.#chunks.length = 0
    this.#bytes = 0
  }

  /** Copies the chunk, because it is a view of the socket's read buffer. */
  add(chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#bytesMax - this.#bytes)
    if (kept.length === 0) return
    this.#chunks.push(Buffer.from(kept))
    this.#bytes += kept.length
  }

  get text(): string {
    const bytes = Buffer.concat(this.#chunks)
    const encoding = this.#encoding?.trim() ?? 'identity'
    if (bytes.length === 0 || encoding === 'identity') return decoded(bytes)
    const plain = COMPRESSED.test(encoding) ? inflated(bytes) : undefined
    return plain ? decoded(plain.subarray(0, this.#bytesMax)) : `(${encoding})`
  }
}

/** Leaves out an incomplete character at the end, and tokens. */
function decoded(bytes: Buffer): string {
  return withoutTokens(new StringDecoder('utf8').write(bytes))
}

/** Decompresses the beginning of a stream. undefined: the bytes are not valid. */
function inflated(bytes: Buffer): Buffer | undefined {
  try {
    const maxOutputLength = bytes.length * INFLATION_MAX
    return unzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength })
  } catch {
    return undefined
  }
}
