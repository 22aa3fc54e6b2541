/**
 * Handles unexpected `100 Continue` answers. By RFC 9110 §15.2 a client ignores interim answers (1xx) that it does not
 * expect. undici ignores all but 100, and closes the connection at a 100. This code therefore changes a 100 to 102,
 * which undici ignores.
 *
 * It reads the heads of one connection's answers: those of interim answers, then that of the final answer. It ignores
 * the rest until `begin` announces the next request.
 */
import { Socket } from 'node:net'

/** Position of the status's first digit in `HTTP/1.1 100`. */
const FIRST_DIGIT = 9
const LAST_DIGIT = 11
const [LF, CR, ZERO, ONE, TWO, LETTER_H] = [10, 13, 48, 49, 50, 72]

export class InterimHeads {
  /** How many bytes of this head have been read. -1: the final answer has begun. */
  #at = 0
  /** Whether the digits read so far can still become 100. */
  #isHundred = true
  #isInterim = false
  /** Line feeds in a row, ignoring carriage returns. Two end a head. */
  #lineFeeds = 0

  /** Called when a new request is written on the connection. */
  begin(): void {
    this.#at = 0
    this.#isHundred = true
    this.#lineFeeds = 0
  }

  /** Changes the chunk in place. */
  pass(chunk: Buffer): void {
    // Nearly every answer begins with a chunk, and is final.
    if (this.#at === 0 && chunk[0] === LETTER_H && chunk.length > FIRST_DIGIT && chunk[FIRST_DIGIT] !== ONE) {
      this.#at = -1
      return
    }
    for (let i = 0; i < chunk.length && this.#at >= 0; i++) this.#take(chunk, i)
  }

  #take(chunk: Buffer, i: number): void {
    const byte = chunk[i]
    // Empty lines before an answer do not belong to it.
    if (this.#at === 0 && (byte === CR || byte === LF)) return
    const at = this.#at++
    if (at < FIRST_DIGIT) return
    if (at === FIRST_DIGIT) {
      this.#isInterim = byte === ONE
      this.#isHundred = this.#isInterim
      if (!this.#isInterim) this.#at = -1
    } else if (at <= LAST_DIGIT) {
      this.#isHundred &&= byte === ZERO
      if (at === LAST_DIGIT && this.#isHundred) chunk[i] = TWO
    } else if (byte === LF) {
      this.#lineFeeds++
      if (this.#lineFeeds === 2) this.begin()
    } else if (byte !== CR) this.#lineFeeds = 0
  }
}

/**
 * Makes the socket's reader see 102 for 100. `push` is replaced and not `read`, because a chunk is pushed once, and
 * undici calls `read` six times for each answer.
 */
export function readWithoutContinue(socket: Socket): InterimHeads {
  const heads = new InterimHeads()
  Object.assign(socket, { [HEADS]: heads, push: pushPassed })
  return heads
}

const HEADS = Symbol('heads')
type PassingSocket = Socket & { [HEADS]: InterimHeads }

/** One function for all sockets. V8 inlines it, but not a function for each socket. */
function pushPassed(this: PassingSocket, chunk: unknown, encoding?: BufferEncoding): boolean {
  if (chunk instanceof Buffer) this[HEADS].pass(chunk)
  return Socket.prototype.push.call(this, chunk, encoding)
}
