/**
 * Sends bytes that are nearly HTTP, or random, to the server's socket. It must answer or close the connection, and
 * continue to serve.
 */
import { connect } from 'node:net'
import { whenClosed } from '@fantail/test-kit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FUZZ_TIMEOUT_MS, fuzzRuns, unlessHanging } from '../fixtures/fuzzing.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp } from './app.ts'
import { type ApiServer, listen } from './server.ts'

let api: TestApi
let server: ApiServer

beforeAll(async () => {
  api = await startTestApi()
  server = await listen(createApp(api.deps), { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server.close()
  await api.stop()
})

const junk = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
const part = (...usual: string[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: junk })

const request = fc
  .record({
    method: part('GET', 'POST', 'PUT', 'OPTIONS', 'TRACE', 'CONNECT', 'get'),
    target: part(
      '/',
      '/v1/topics',
      '/v1/topics/orders',
      '*',
      'http://a/b',
      '//x',
      '/%00',
      '/?Action=Publish',
      '/\u00ff',
    ),
    version: part('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0'),
    headers: fc.array(
      fc.tuple(
        part(
          'Host',
          'Content-Length',
          'Transfer-Encoding',
          'Content-Type',
          'X-Request-Id',
          'Expect',
          'Connection',
          'Upgrade',
        ),
        part(
          'localhost',
          '3',
          '-1',
          '99999999999999999999',
          'chunked',
          'application/json',
          '100-continue',
          'websocket',
          '',
        ),
      ),
      { maxLength: 6 },
    ),
    body: part('', '{}', 'abc', '3\r\nabc\r\n0\r\n\r\n', 'ffffffff\r\n'),
  })
  .map(({ method, target, version, headers, body }) => {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return `${method} ${target} ${version}\r\n${lines}\r\n${body}`
  })

/** Everything that is received until the server, or this side, closes. */
async function exchanged(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    answer += chunk
  })
  socket.end(Buffer.from(bytes, 'latin1'))
  await whenClosed(socket)
  return answer
}

test('random bytes get no 5xx, and no answer is missing for long', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: request }, junk), async (bytes) => {
      const answer = await unlessHanging(JSON.stringify(bytes), exchanged(bytes))
      // For wrong requests Node answers 505 (unknown HTTP version) and 501 (unknown coding) itself.
      expect(answer).not.toMatch(/^HTTP\/1\.1 50[02346789]/m)
    }),
    { numRuns: fuzzRuns(300, 0.05) },
  )
  expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200)
  expect(api.events.filter(({ event }) => event === 'request.failed')).toEqual([])
})
