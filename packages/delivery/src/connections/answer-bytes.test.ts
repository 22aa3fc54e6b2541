import { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnswerBytes } from './answer-bytes.ts'

const HEAD_BYTES_MAX = 1_000
const FINAL = 'HTTP/1.1 200 OK\r\nX: HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Hints\r\nA: b\r\n\r\n'

function createBytes() {
  const nothing = () => undefined
  const sink = {
    isHeadRead: false,
    bodyBytes: 0,
    needsBody: false,
    begun: nothing,
    data: nothing,
    ended: nothing,
  }
  const socket = new Socket().on('error', () => undefined)
  const bytes = new AnswerBytes(socket, HEAD_BYTES_MAX)
  bytes.begin(sink)
  return { socket, bytes, sink }
}

/** The bytes that reach undici, and whether the connection may be used again. The answer is cut at these positions. */
function passed(answer: string, cuts: number[] = []): [text: string, isReusable: boolean] {
  const { bytes } = createBytes()
  const whole = Buffer.from(answer)
  const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b)
  const pieces = [0, ...places].map((from, n) => bytes.pass(whole.subarray(from, places[n])))
  const all = [...pieces, bytes.ended()].filter((piece) => piece !== undefined)
  return [Buffer.concat(all).toString(), bytes.isReusable]
}

test('interim answers and empty lines before the final answer are left out, and nothing else', () => {
  expect(passed(`HTTP/1.1 100 Continue\r\n\r\n${FINAL}`)).toEqual([FINAL, true])
  expect(passed(`\r\n\n${HINTS}\r\nHTTP/1.0 100 \r\n\r\n${FINAL}`)).toEqual([FINAL, true])
  for (const text of [
    FINAL,
    'HTTP/1.1 101 Switching\r\n\r\n',
    'HTTP/1.1 1xx\r\n\r\n',
    'HTTP/1.1 1000\r\n\r\n',
    'HTTP/1.1 100',
    'HTTP/1.1 1',
    'SSH-2.0',
  ])
    expect(passed(text)).toEqual([text, true])
})

test('a line feed alone may end a line of an interim answer, whose connection is then not used again', () => {
  expect(passed(`HTTP/1.0 100\n\n${FINAL}`)).toEqual([FINAL, false])
})

test('wherever the bytes are cut', () => {
  const whole = `\r\n${HINTS}HTTP/1.1 100 Continue\r\n\r\n${FINAL}`
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
      expect(passed(whole, cuts)).toEqual([FINAL, true])
    }),
  )
})

test('bytes that are no HTTP are passed on unchanged, wherever they are cut', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.nat(99)), (text, cuts) => {
      expect(passed(`SSH-2.0${text}`, cuts)).toEqual([`SSH-2.0${text}`, true])
    }),
  )
})

test('bytes that come between two answers are passed on', () => {
  const { bytes, sink } = createBytes()
  bytes.pass(Buffer.from(FINAL))
  bytes.over()
  expect(bytes.pass(Buffer.from(HINTS))?.toString()).toBe(HINTS)
  bytes.begin(sink)
  expect(bytes.hasBegun).toBe(false)
  expect(bytes.pass(Buffer.from(HINTS))).toBe(undefined)
  expect(bytes.hasBegun).toBe(true)
})

test.each([
  ['interim answers', '', HINTS],
  ['empty lines', '', '\r\n'],
  ['the headers of an interim answer', 'HTTP/1.1 103 Hints\r\n', 'a: b\r\n'],
  ['a reason phrase', 'HTTP/1.1 200 ', 'a'],
])('%s without an end are no answer', (_what, beginning, repeated) => {
  const { socket, bytes } = createBytes()
  bytes.pass(Buffer.from(beginning))
  const pieces = Math.ceil(HEAD_BYTES_MAX / repeated.length) + 1
  for (let n = 0; n < pieces && !socket.destroyed; n++) bytes.pass(Buffer.from(repeated))
  expect(socket.destroyed).toBe(true)
})

test('a carriage return alone ends no line, and makes an interim answer invalid', () => {
  const { socket, bytes } = createBytes()
  expect(bytes.pass(Buffer.from(`HTTP/1.1 100 Continue\r\r${FINAL}`))).toBe(undefined)
  expect(socket.destroyed).toBe(true)
})

test('each byte of a body allows a byte of chunk sizes, besides twice the bound of a head', () => {
  const { socket, bytes, sink } = createBytes()
  sink.isHeadRead = true
  bytes.pass(Buffer.from('HTTP/1.1 200'))
  bytes.pass(Buffer.alloc(2 * HEAD_BYTES_MAX - 'HTTP/1.1 200'.length + 1_000))
  sink.bodyBytes = 500
  bytes.pass(Buffer.alloc(1))
  expect(socket.destroyed).toBe(false)
  bytes.pass(Buffer.alloc(1))
  expect(socket.destroyed).toBe(true)
})
