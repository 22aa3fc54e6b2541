/**
 * Watches the bytes of one connection's answers before the parser gets them, and bounds what an answer costs.
 *
 *   idle ──begin──▶ skipping ──first byte of the final head──▶ passing ──over──▶ idle
 *                                                                 └──the parser or a write fails──▶ tolerant
 *
 * - Skipping: empty lines and interim answers (1xx) come before the final answer. By RFC 9110 §15.2 a client ignores
 *   interim answers that it does not expect. The parser never sees them. It would close the connection at a 100, and
 *   each interim answer would cost it as much as a final one. A 101 is a final answer, and the parser refuses it.
 * - Passing: the parser gets the bytes. It bounds the headers, and its caller bounds the body. All other bytes are
 *   bounded here: reason phrase, chunk sizes, chunk extensions. The parser reports none of them.
 * - Tolerant: a `TolerantAnswer` reads the answer from its beginning, because the parser has refused it, or because the
 *   request could not be written to its end. The connection is not used again. If the tolerant reader refuses the
 *   answer too, the connection ends with the first error.
 * - Idle: the parser gets the bytes, and ends the connection at the first one of an answer that nobody waits for.
 *
 * Without these bounds, an endpoint could keep a worker busy with reading until the deadline.
 */
import { Socket } from 'node:net'
import { errors } from 'undici'
import { type AnswerSink, TolerantAnswer } from './tolerant-answer.ts'

/** An interim answer begins with these bytes. `d` stands for a digit, `e` for a space or the end of the line. */
const INTERIM = Buffer.from('HTTP/1.d 1dde')
const SWITCHING = Buffer.from('101')
const MINOR_VERSION_AT = 7
const STATUS_AT = 9
const STATUS_END = 12
const [LF, CR, SPACE, ZERO, NINE, ONE, LETTER_H, ANY_DIGIT] = [10, 13, 32, 48, 57, 49, 72, 100]

export class AnswerBytes {
  readonly #socket: Socket
  readonly #headBytesMax: number
  #sink: AnswerSink | undefined
  #isSkipping = false
  /** Bytes that have arrived since `begin`. */
  #bytes = 0
  /** The beginning of a head, as long as it may be an interim one. */
  #rest: Buffer | undefined
  #isInInterim = false
  #isLineEmpty = false
  #isAfterCr = false
  #isOdd = false
  /** The final answer, as far as it may have to be read again. The second part exists only for long answers. */
  #first: Buffer | undefined
  #later: Buffer[] | undefined
  #tolerant: TolerantAnswer | undefined
  /** Why the answer is read tolerantly. */
  #failure: Error | undefined
  #hasEnded = false

  constructor(socket: Socket, headBytesMax: number) {
    this.#socket = socket
    this.#headBytesMax = headBytesMax
  }

  /** Whether any byte of an answer has arrived since `begin`. */
  get hasBegun(): boolean {
    return this.#bytes > 0
  }

  /** Whether another request may follow. Not after an oddity that was tolerated. */
  get isReusable(): boolean {
    return !this.#isOdd && !this.#socket.destroyed
  }

  /** Whether the whole request was written. Node may say so only after the answer has been read. */
  get isWritten(): boolean {
    return this.#socket.writableLength === 0
  }

  /** Whether the final answer is one of HTTP/1.0. */
  get isOld(): boolean {
    return this.#first?.[MINOR_VERSION_AT] === ZERO
  }

  /** Called when a new request is written on the connection. */
  begin(sink: AnswerSink): void {
    this.#sink = sink
    this.#isSkipping = true
    this.#bytes = 0
  }

  /** Called when the whole answer has arrived. */
  over(): void {
    this.#sink = undefined
    this.#isSkipping = false
    this.#first = undefined
    this.#later = undefined
  }

  /** Returns the bytes for the parser. undefined: there are none. */
  pass(chunk: Buffer): Buffer | undefined {
    const bytes = this.#isSkipping ? this.#beginning(chunk) : this.#further(chunk)
    if (!this.#tolerant || !bytes) return bytes
    this.#tolerant.add(bytes)
    this.#checkTolerant()
    return undefined
  }

  /** The connection has ended. Returns the bytes that the parser has not seen. */
  ended(): Buffer | undefined {
    this.#hasEnded = true
    this.#tolerant?.end()
    this.#checkTolerant()
    const rest = this.#rest
    this.#rest = undefined
    return rest
  }

  /** The parser or a write has failed. Returns true if the answer can nevertheless be read. */
  survives(error: Error | null | undefined): boolean {
    const sink = this.#sink
    if (!sink || this.#tolerant || !(isRefusal(error) || isFailedWrite(error))) return false
    // The status is known, and the rest does not matter.
    if (sink.isHeadRead && !sink.needsBody) return false
    const tolerant = new TolerantAnswer(sink, this.#headBytesMax)
    this.#isOdd = true
    this.#tolerant = tolerant
    this.#failure = error
    for (const chunk of [this.#first, ...(this.#later ?? [])]) if (chunk) tolerant.add(chunk)
    if (this.#hasEnded) tolerant.end()
    return tolerant.state !== 'invalid'
  }

  get isTolerant(): boolean {
    return this.#tolerant !== undefined
  }

  #checkTolerant(): void {
    if (this.#tolerant?.state === 'invalid') Socket.prototype.destroy.call(this.#socket, this.#failure)
  }

  #beginning(chunk: Buffer): Buffer | undefined {
    // Nearly every answer begins with a chunk, and is final.
    const isFinal = this.#bytes === 0 && chunk[0] === LETTER_H && (chunk[STATUS_AT] ?? ONE) !== ONE
    this.#bytes += chunk.length
    if (!isFinal) return this.#skip(chunk)
    this.#isSkipping = false
    this.#first = chunk
    return chunk
  }

  /** A byte of the body allows one byte of chunk sizes and extensions. So small chunks are no flood. */
  #further(chunk: Buffer): Buffer | undefined {
    const sink = this.#sink
    if (!sink || this.#tolerant) return chunk
    const others = this.#bytes - this.#socket.readableLength - sink.bodyBytes
    this.#bytes += chunk.length
    const othersMax = sink.isHeadRead ? 2 * this.#headBytesMax + sink.bodyBytes : this.#headBytesMax
    this.#keep(chunk, sink)
    if (others <= othersMax) return chunk
    const what = sink.isHeadRead ? 'chunk sizes and extensions' : 'head'
    this.#socket.destroy(
      new errors.HeadersOverflowError(`the ${what} of the answer exceeded ${othersMax} bytes`),
    )
    return undefined
  }

  /** Once the head has been read, the answer is read again only if its body decides. */
  #keep(chunk: Buffer, { isHeadRead, needsBody }: AnswerSink): void {
    if (!isHeadRead || needsBody) {
      this.#later ??= []
      this.#later.push(chunk)
    } else {
      this.#first = undefined
      this.#later = undefined
    }
  }

  /** Drops empty lines and interim heads. */
  #skip(chunk: Buffer): Buffer | undefined {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = undefined
    let at = 0
    while (at < bytes.length) {
      if (this.#isInInterim) at = this.#skipInterim(bytes, at)
      else if (bytes[at] === CR || bytes[at] === LF) at++
      else if (!mayBeInterim(bytes, at)) break
      else if (bytes.length - at < INTERIM.length) {
        this.#rest = bytes.subarray(at)
        at = bytes.length
      } else this.#isInInterim = true
      if (at < 0) return this.#refuse('an interim answer has a carriage return without a line feed')
    }
    const isWhole = at === bytes.length
    if (this.#bytes - (bytes.length - at) > this.#headBytesMax)
      return this.#refuse(`no final answer within ${this.#headBytesMax} bytes`)
    if (isWhole) return undefined
    this.#isSkipping = false
    this.#first = bytes.subarray(at)
    return this.#first
  }

  /** Returns the place after the head, or the end of the bytes if the head goes on. Negative: it is not valid. */
  #skipInterim(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]
      if (this.#isAfterCr && byte !== LF) return -1
      if (byte === LF) {
        // A line feed alone may end a line (RFC 9112 §2.2).
        if (!this.#isAfterCr) this.#isOdd = true
        if (this.#isLineEmpty) this.#isInInterim = false
        this.#isLineEmpty = this.#isInInterim
      } else if (byte !== CR) this.#isLineEmpty = false
      this.#isAfterCr = byte === CR
      if (!this.#isInInterim) return at + 1
    }
    return bytes.length
  }

  /** Ends the connection, because nothing can follow that is worth reading. */
  #refuse(reason: string): undefined {
    Socket.prototype.destroy.call(this.#socket, new errors.HeadersOverflowError(reason))
  }
}

/** Whether the bytes at this place begin an interim head, as far as they have arrived. */
function mayBeInterim(bytes: Buffer, from: number): boolean {
  const begun = bytes.subarray(from, from + INTERIM.length)
  const isLike = begun.every((byte, i) => {
    // A longer number is no status. The parser refuses it.
    if (i === STATUS_END) return byte === SPACE || byte === CR || byte === LF
    return INTERIM[i] === ANY_DIGIT ? byte >= ZERO && byte <= NINE : byte === INTERIM[i]
  })
  return isLike && !begun.subarray(STATUS_AT, STATUS_END).equals(SWITCHING)
}

/**
 * A server that does not want the whole request may answer and close the connection (RFC 9112 §9.6). Its answer is then
 * still to be read. If there is none, reading fails at once, because the connection is closed.
 */
function isFailedWrite(error: Error | null | undefined): error is Error {
  return (error as NodeJS.ErrnoException | null | undefined)?.syscall === 'write'
}

function isRefusal(error: Error | null | undefined): error is Error {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.ResponseContentLengthMismatchError ||
    error instanceof errors.HeadersOverflowError
  )
}

/**
 * Lets the socket's answers pass an `AnswerBytes`. `push` is replaced and not `read`, because a chunk is pushed once,
 * and undici calls `read` six times for each answer.
 */
export function watchAnswers(socket: Socket, headBytesMax: number): AnswerBytes {
  const answers = new AnswerBytes(socket, headBytesMax)
  Object.assign(socket, { [ANSWERS]: answers, push: pushPassed, destroy: destroyUnlessRead })
  return answers
}

const ANSWERS = Symbol('answers')
type WatchedSocket = Socket & { [ANSWERS]: AnswerBytes }

/** One function for all sockets. V8 inlines it, but not a function for each socket. */
function pushPassed(this: WatchedSocket, chunk: unknown, encoding?: BufferEncoding): boolean {
  if (!(chunk instanceof Buffer)) return pushEnd(this, chunk, encoding)
  const passed = this[ANSWERS].pass(chunk)
  return passed === undefined ? !this.destroyed : Socket.prototype.push.call(this, passed, encoding)
}

function pushEnd(socket: WatchedSocket, end: unknown, encoding?: BufferEncoding): boolean {
  const last = socket[ANSWERS].ended()
  if (socket[ANSWERS].isTolerant) return false
  if (last) Socket.prototype.push.call(socket, last)
  return Socket.prototype.push.call(socket, end, encoding)
}

/** undici destroys the socket when its parser refuses an answer. It does not touch the socket after that. */
function destroyUnlessRead(this: WatchedSocket, error?: Error): Socket {
  return this[ANSWERS].survives(error) ? this : Socket.prototype.destroy.call(this, error)
}
