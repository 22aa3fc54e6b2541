/** The beginning of an answer, kept for a record or a test. The body is read only if somebody asks for it. */
import type { AnswerStart } from '@fantail/contracts'
import { ResponseText } from './response-text.ts'

/**
 * Which answers an attempt keeps. `failures`: only those that are no success. The body is kept up to `bytesMax`, and
 * shown only if it comes from a public address, or from any address with `fromAnywhere`.
 */
export interface KeepAnswer {
  of: 'failures' | 'all'
  bytesMax: number
  fromAnywhere: boolean
}

export class KeptAnswer implements AnswerStart {
  readonly headers: AnswerStart['headers']
  readonly #text: ResponseText
  readonly #mayShow: () => boolean

  constructor(headers: AnswerStart['headers'], bytesMax: number, mayShow: () => boolean) {
    this.headers = headers
    this.#mayShow = mayShow
    this.#text = new ResponseText(bytesMax)
    this.#text.begin(headers['content-encoding'])
  }

  add(chunk: Buffer): void {
    this.#text.add(chunk)
  }

  body(): string | undefined {
    return this.#mayShow() ? this.#text.text : undefined
  }
}

export function isKept(keep: KeepAnswer, statusCode: number): boolean {
  return keep.of === 'all' || statusCode >= 300
}
