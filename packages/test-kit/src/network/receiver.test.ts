import { once } from 'node:events'
import { get } from 'node:https'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { waitFor } from '../waiting/wait-for.ts'
import { onRawRequest, startRawServer } from './raw-server.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { createAuthority, createSelfSigned } from './tls-certificates.ts'

let receiver: Receiver | undefined

afterEach(async () => {
  await receiver?.close()
  receiver = undefined
})

const arn = 'arn:aws:sns:us-east-1:000000000000:t'
const headers = { 'x-amz-sns-message-id': 'm1', 'x-amz-sns-subscription-arn': `${arn}:sub1` }

test('records requests and answers 200 by default', async () => {
  receiver = await startReceiver()
  const before = Date.now()
  const response = await fetch(`${receiver.url}/a?x=1`, { method: 'POST', body: 'hi', headers })
  expect(response.status).toBe(200)
  const [request] = await receiver.waitForRequests(1, '/a')
  expect(request).toMatchObject({ method: 'POST', path: '/a?x=1', text: 'hi', attempt: 1 })
  expect(request).toMatchObject({ messageId: 'm1', subscriptionId: 'sub1' })
  expect(request?.at).toBeGreaterThanOrEqual(before - 1)
})

test('answers as programmed, by path or predicate, the latest first, counting requests', async () => {
  receiver = await startReceiver()
  receiver.respond('/b', (_request, n) => ({ status: n === 1 ? 500 : 204 }))
  receiver.respond((request) => request.text === 'teapot', {
    status: 418,
    body: 'short',
    headers: { a: 'b' },
  })
  const post = (body: string) => fetch(`${receiver?.url}/b`, { method: 'POST', body, headers })
  expect((await post('x')).status).toBe(500)
  expect((await post('x')).status).toBe(204)
  const teapot = await post('teapot')
  expect([teapot.status, await teapot.text(), teapot.headers.get('a')]).toEqual([418, 'short', 'b'])
  expect(receiver.requestsTo('/b').map(({ attempt }) => attempt)).toEqual([1, 2, 3])
})

test('knows how many requests were open at once, and ends them on close', async () => {
  receiver = await startReceiver()
  receiver.respond('/hang', { hang: 'beforeHeaders' })
  const hanging = [1, 2, 3].map(() => fetch(`${receiver?.url}/hang`).then(undefined, () => 'failed'))
  await receiver.waitForRequests(3, '/hang')
  await fetch(`${receiver.url}/quick`)
  expect(receiver.inFlight('/hang')).toBe(3)
  expect(receiver.inFlightMax('/hang')).toBe(3)
  expect(receiver.inFlightMax('/quick')).toBe(1)
  expect(receiver.inFlightMax()).toBe(4)
  await receiver.close()
  expect(await Promise.all(hanging)).toEqual(['failed', 'failed', 'failed'])
})

test('serves TLS with certificates that verify against their authority only', async () => {
  const authority = createAuthority()
  const tls = authority.issue(['localhost', '127.0.0.1'])
  receiver = await startReceiver({ tls })
  const { url } = receiver
  const status = (ca?: string) =>
    new Promise((resolve) => {
      get(url, { ca, agent: false }, (response) => resolve(response.resume().statusCode)).on(
        'error',
        (error: NodeJS.ErrnoException) => resolve(error.code),
      )
    })
  expect(await status(authority.cert)).toBe(200)
  expect(await status()).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
  expect(await status(createSelfSigned(['localhost']).cert)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
})

test('a raw server hands over whole requests, however they are cut', async () => {
  const got: string[] = []
  const server = await startRawServer((socket) => onRawRequest(socket, (request) => got.push(request)))
  const client = connect(server.port, '127.0.0.1')
  await once(client, 'connect')
  for (const piece of ['POST / HTTP/1.1\r\nContent-Len', 'gth: 2\r\n\r\nh', 'iGET / HTTP/1.1\r\n\r\n'])
    client.write(piece)
  await waitFor(() => got.length === 2)
  expect(got[0]?.endsWith('\r\n\r\nhi')).toBe(true)
  expect(server.accepted()).toBe(1)
  const ended = once(client, 'close')
  await server.close()
  await ended
})
