/**
 * Reads an answer that the parser refuses, although RFC 9112 lets a client take it. The endpoint has accepted the
 * message, so a refusal would only repeat it. Taken are:
 *
 * - RFC 9112 §6.3: equal lengths in one header or several, and chunks besides a length, which the chunks override
 * - RFC 9112 §5.2: folded headers. RFC 9112 §2.2: lines before the first header that begin with a space, and a line
 *   feed alone at the end of a line of the head or the trailers
 * - RFC 9112 §5.1: a space before a colon. RFC 9110 §5.5: control characters in a header's value
 * - RFC 9112 §7.1.1: spaces after the size of a chunk
 *
 * Different lengths, a carriage return alone and a NUL stay errors. The connection is never used again, so nothing that
 * follows this answer can pass for another one.
 *
 * If the body does not decide the result, the answer is whole with its head, or at the bound of the head.
 */

/** The exchange that gets the answer. */
export interface AnswerSink {
  readonly isHeadRead: boolean
  /** Bytes of the answer's body so far. */
  readonly bodyBytes: number
  /** The body decides the result, so it must be whole. */
  readonly needsBody: boolean
  /** Drops what has been read of the answer. */
  begun(statusCode: number, headers: AnswerHeaders): void
  data(chunk: Buffer): void
  ended(): void
}

/** Names are in lower case. */
export type AnswerHeaders = Record<string, string | string[] | undefined>

type Part = 'head' | 'untilLength' | 'untilClose' | 'chunkSize' | 'chunkEnd' | 'trailers' | 'nothing'

const STATUS_LINE = /^HTTP\/1\.\d ([2-9]\d\d)(?: |$)/
const FIELD = /^([\w!#$%&'*+.^`|~-]+)[ \t]*:(.*)$/s
const CHUNK_SIZE = /^([\da-f]{1,12})[ \t]*(?:;|$)/i
const CONTROLS = /\p{Cc}/gu
const LF = 10
const EMPTY = Buffer.alloc(0)

export class TolerantAnswer {
  state: 'reading' | 'whole' | 'invalid' = 'reading'
  readonly #sink: AnswerSink
  readonly #headBytesMax: number
  #rest: Buffer = EMPTY
  #part: Part = 'head'
  #statusCode = 0
  #isBegun = false
  readonly #fields: [name: string, value: string][] = []
  /** Bytes of lines so far. */
  #lineBytes = 0
  /** Bytes of the body, or of its present chunk, that have not come yet. */
  #left = 0

  constructor(sink: AnswerSink, headBytesMax: number) {
    this.#sink = sink
    this.#headBytesMax = headBytesMax
  }

  add(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (this.state === 'reading' && this.#step());
    if (this.#isBegun && !this.#sink.needsBody) this.#finish()
  }

  /** The connection has ended. */
  end(): void {
    if (this.state !== 'reading') return
    if (this.#part === 'untilClose') this.#finish()
    else this.state = 'invalid'
  }

  /** Returns false if it needs more bytes. */
  #step(): boolean {
    switch (this.#part) {
      case 'untilLength':
        return this.#takeBody(this.#left)
      case 'untilClose':
        return this.#takeBody(Number.POSITIVE_INFINITY)
      case 'nothing':
        return this.#finish()
      default:
        return this.#takeLine()
    }
  }

  #takeBody(length: number): boolean {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(taken.length)
    this.#left -= taken.length
    if (taken.length > 0) this.#sink.data(taken)
    if (length > taken.length) return false
    this.#part = this.#isChunked() ? 'chunkEnd' : 'nothing'
    return true
  }

  #takeLine(): boolean {
    const end = this.#rest.indexOf(LF)
    const length = end < 0 ? this.#rest.length : end + 1
    const bytesMax = this.#isBegun ? 2 * this.#headBytesMax + this.#sink.bodyBytes : this.#headBytesMax
    if (this.#lineBytes + length > bytesMax) return this.#refuseMore()
    if (end < 0) return false
    const whole = this.#rest.toString('utf8', 0, end)
    this.#rest = this.#rest.subarray(length)
    this.#lineBytes += length
    const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole
    const isInvalid = line.includes('\r') || line.includes('\0') || !this.#take(line, line !== whole)
    if (isInvalid) this.state = 'invalid'
    return !isInvalid
  }

  /** The head is too long. Its first part says enough if the body does not matter. */
  #refuseMore(): false {
    const isEnough = this.#part === 'head' && this.#statusCode > 0 && !this.#sink.needsBody
    if (!isEnough || !this.#begin()) this.state = 'invalid'
    return false
  }

  /** `isStrict`: the line ends with a carriage return and a line feed. Returns false if the line is invalid. */
  #take(line: string, isStrict: boolean): boolean {
    if (this.#part === 'head') return this.#takeHead(line)
    if (this.#part === 'trailers') {
      if (line === '') this.#part = 'nothing'
      return true
    }
    if (!isStrict) return false
    if (this.#part === 'chunkEnd') {
      this.#part = 'chunkSize'
      return line === ''
    }
    const size = CHUNK_SIZE.exec(line)?.[1]
    this.#left = Number.parseInt(size ?? '', 16)
    this.#part = this.#left === 0 ? 'trailers' : 'untilLength'
    return size !== undefined
  }

  #takeHead(line: string): boolean {
    if (this.#statusCode === 0) {
      this.#statusCode = Number(STATUS_LINE.exec(line)?.[1] ?? 0)
      return this.#statusCode > 0
    }
    if (line === '') return this.#begin()
    const last = this.#fields.at(-1)
    if (/^[ \t]/.test(line)) {
      if (last) last[1] += ` ${line.trim()}`
      return true
    }
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    this.#fields.push([name.toLowerCase(), value.trim()])
    return name !== ''
  }

  /** Returns false if nobody can know where the answer ends. */
  #begin(): boolean {
    const length = this.#length()
    if (length === undefined) return false
    this.#isBegun = true
    this.#sink.begun(this.#statusCode, headersOf(this.#fields))
    this.#left = length
    if (this.#statusCode === 204 || this.#statusCode === 304) this.#part = 'nothing'
    else if (this.#isChunked()) this.#part = 'chunkSize'
    else if (this.#listed('transfer-encoding').length > 0 || length < 0) this.#part = 'untilClose'
    else this.#part = 'untilLength'
    return true
  }

  /** Negative: there is none. undefined: it is invalid. */
  #length(): number | undefined {
    const lengths = this.#listed('content-length')
    const [first = '-1'] = lengths
    const codings = this.#listed('transfer-encoding')
    const isChunkedTwice = codings.indexOf('chunked') < codings.lastIndexOf('chunked')
    const isValid = lengths.every((text) => /^\d{1,15}$/.test(text) && Number(text) === Number(first))
    return isValid && !isChunkedTwice ? Number(first) : undefined
  }

  #isChunked(): boolean {
    return this.#listed('transfer-encoding').at(-1) === 'chunked'
  }

  /** The members of a header that is a list. */
  #listed(name: string): string[] {
    const values = this.#fields.filter((field) => field[0] === name)
    return values.flatMap(([, value]) => value.toLowerCase().split(',')).map((text) => text.trim())
  }

  #finish(): false {
    if (this.state !== 'whole') {
      this.state = 'whole'
      this.#sink.ended()
    }
    return false
  }
}

function headersOf(fields: readonly [name: string, value: string][]): AnswerHeaders {
  const headers = new Map<string, string | string[]>()
  for (const [name, value] of fields) {
    const plain = value.replaceAll(CONTROLS, ' ')
    const known = headers.get(name)
    headers.set(name, known === undefined ? plain : [known, plain].flat())
  }
  return Object.fromEntries(headers)
}
