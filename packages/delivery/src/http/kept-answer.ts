/**
 * The beginning of an answer, kept for a record or a test. Keeping it is cheap, because most kept answers are never
 * read: the body is decoded only if somebody asks for it.
 */
import type { AnswerStart } from '@fantail/contracts'
import type { DialFacts } from '../connections/dial-facts.ts'
import { ResponseText } from './response-text.ts'

/**
 * Which answers an attempt keeps. `failures`: only answers that are no success. The body is kept up to `bytesMax`, and
 * shown only if it comes from a public address, or from any address with `fromAnywhere`.
 */
export interface KeepAnswer {
  of: 'failures' | 'all'
  bytesMax: number
  fromAnywhere: boolean
}

export class KeptAnswer implements AnswerStart {
  readonly headers: AnswerStart['headers']
  readonly #keep: KeepAnswer
  readonly #dialled: DialFacts | undefined
  #bytesLeft: number
  #chunks: Buffer[] | undefined

  constructor(headers: AnswerStart['headers'], keep: KeepAnswer, dialled: DialFacts | undefined) {
    this.headers = headers
    this.#keep = keep
    this.#dialled = dialled
    this.#bytesLeft = keep.bytesMax
  }

  /** Copies the chunk, because it is a view of the socket's read buffer. */
  add(chunk: Buffer): void {
    if (this.#bytesLeft === 0) return
    const kept = Buffer.from(chunk.subarray(0, this.#bytesLeft))
    this.#bytesLeft -= kept.length
    if (this.#chunks) this.#chunks.push(kept)
    else this.#chunks = [kept]
  }

  get isPublic(): boolean {
    return this.#dialled?.isPublic() ?? false
  }

  body(): string | undefined {
    if (!this.#keep.fromAnywhere && !this.isPublic) return undefined
    const text = new ResponseText(this.#keep.bytesMax)
    text.begin(this.headers['content-encoding'])
    for (const chunk of this.#chunks ?? []) text.add(chunk)
    return text.text
  }
}

export function isKept(keep: KeepAnswer, statusCode: number): boolean {
  return keep.of === 'all' || statusCode >= 300
}
