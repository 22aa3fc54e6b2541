import { expect, test } from 'vitest'
import { HttpFraming, pathOf, statusOf } from './http-framing.ts'

const request = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

function framed(chunks: Buffer[]): [path: string, body: string][] {
  const found: [string, string][] = []
  const framing = new HttpFraming((head, bytes, bodyStart, end) => {
    found.push([pathOf(head), bytes.toString('utf8', bodyStart, end)])
  })
  for (const chunk of chunks) framing.push(chunk)
  return found
}

test('finds the same messages wherever the stream is cut', () => {
  const stream = Buffer.from(request('/a', 'one') + request('/b', '') + request('/c', 'drei und ein Ä'))
  const whole = framed([stream])
  expect(whole).toEqual([
    ['/a', 'one'],
    ['/b', ''],
    ['/c', 'drei und ein Ä'],
  ])
  for (let cut = 1; cut < stream.length; cut++) {
    expect(framed([stream.subarray(0, cut), stream.subarray(cut)])).toEqual(whole)
  }
  expect(framed(Array.from(stream, (byte) => Buffer.from([byte])))).toEqual(whole)
})

test('reads the length however it is written, and none as none', () => {
  const lower = 'HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\nOK'
  const odd = 'HTTP/1.1 202 Accepted\r\nCONTENT-LENGTH:  2\r\n\r\nOK'
  const none = 'HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n'
  const statuses: number[] = []
  new HttpFraming((head) => void statuses.push(statusOf(head))).push(Buffer.from(lower + odd + none))
  expect(statuses).toEqual([202, 202, 204])
})

test('refuses a message whose end it cannot know', () => {
  const chunked = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n')
  expect(() => new HttpFraming(() => undefined).push(chunked)).toThrow('Content-Length')
})
