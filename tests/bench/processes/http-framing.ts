/**
 * Splits a byte stream into HTTP/1.1 messages by Content-Length. Publishers and receiver need no more of HTTP. A
 * complete parser would use too much of the measured machine.
 */

/** One whole message: its head as text, its body as a range of `bytes`. Valid during the call only. */
type OnMessage = (head: string, bytes: Buffer, bodyStart: number, end: number) => void

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = 'content-length: '
const EMPTY = Buffer.alloc(0)

export class HttpFraming {
  #rest: Buffer = EMPTY
  readonly #onMessage: OnMessage

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage
  }

  /** Throws if a message has no valid length. */
  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let start = 0
    while (start < bytes.length) {
      const headEnd = bytes.indexOf(HEAD_END, start)
      if (headEnd < 0) break
      const head = bytes.toString('latin1', start, headEnd)
      const bodyStart = headEnd + HEAD_END.length
      const end = bodyStart + contentLength(head)
      if (end > bytes.length) break
      this.#onMessage(head, bytes, bodyStart, end)
      start = end
    }
    this.#rest = start < bytes.length ? bytes.subarray(start) : EMPTY
  }
}

/** 0 if none is named. */
function contentLength(head: string): number {
  const at = head.indexOf(LENGTH)
  if (at >= 0) return Number.parseInt(head.slice(at + LENGTH.length, at + LENGTH.length + 9), 10)
  const named = /\r\ncontent-length:\s*(\d+)/i.exec(head)
  if (named) return Number(named[1])
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('a message without Content-Length')
  return 0
}

/** `/a` of `POST /a HTTP/1.1`. */
export function pathOf(head: string): string {
  const start = head.indexOf(' ') + 1
  return head.slice(start, head.indexOf(' ', start))
}

/** Returns the status, e.g. 202 of `HTTP/1.1 202 Accepted`. */
export function statusOf(head: string): number {
  return Number.parseInt(head.slice(9, 12), 10)
}
