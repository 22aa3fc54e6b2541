import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InterimHeads } from './interim-heads.ts'

const FINAL = 'HTTP/1.1 200 OK\r\nX: HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'

/** The bytes that reach undici from a connection. The answers arrive in pieces, cut at the given positions. */
function passed(answers: string[], cuts: number[] = []): string {
  const heads = new InterimHeads()
  return answers
    .map((answer) => {
      const bytes = Buffer.from(answer)
      const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
      const pieces = [0, ...places].map((from, n) => Buffer.from(bytes.subarray(from, places[n])))
      for (const piece of pieces) heads.pass(piece)
      heads.begin()
      return Buffer.concat(pieces).toString()
    })
    .join('')
}

test('100 becomes 102 before the final answer, and nothing else changes', () => {
  expect(passed([`HTTP/1.1 100 Continue\r\n\r\n${FINAL}`])).toBe(`HTTP/1.1 102 Continue\r\n\r\n${FINAL}`)
  expect(passed([`HTTP/1.0 100\n\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 100 \r\n\r\n${FINAL}`])).toBe(
    `HTTP/1.0 102\n\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 102 \r\n\r\n${FINAL}`,
  )
  expect(passed([`\r\n${FINAL}`, `HTTP/1.1 100 Continue\r\n\r\n${FINAL}`])).toBe(
    `\r\n${FINAL}HTTP/1.1 102 Continue\r\n\r\n${FINAL}`,
  )
})

test('wherever the bytes are cut', () => {
  const whole = `HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${FINAL}`
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
      expect(passed([whole, whole], cuts)).toBe(passed([whole, whole]))
    }),
  )
})

test('bytes that are no HTTP are passed on unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const answer = `SSH-2.0${text}`
      if (answer[9] !== '1') expect(passed([answer])).toBe(answer)
    }),
  )
})
