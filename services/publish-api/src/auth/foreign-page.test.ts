import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi, waitingIn } from '../test-api.ts'
import { createForeignPages } from './foreign-page.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

const isForeign = (url: string, headers: Record<string, string> = {}, publicUrl?: string) =>
  createForeignPages({ publicUrl })({ url, header: (name) => headers[name] }) !== undefined

test.each([
  'localhost',
  '127.0.0.1:4100',
  '127.8.9.1',
  '[::1]:4100',
  'LOCALHOST.',
  'api:4100',
  'host.docker.internal',
  'a.localhost',
])('%s is a name of this machine', (host) => {
  expect(isForeign(`http://${host}/v1/topics`)).toBe(false)
  expect(isForeign(`http://${host}`, { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toBe(
    false,
  )
})

test.each([
  'evil.example',
  '127.0.0.1.evil.example:4100',
  'localhost.evil.com',
  '203.0.113.9',
  'x.ngrok.app',
  '[2001:db8::1]',
])('%s is not', (host) => {
  expect(isForeign(`http://${host}/v1/topics`)).toBe(true)
  expect(isForeign(`http://${host}/`, {}, `https://${host.replace(/:\d+$/, '')}/base`)).toBe(false)
})

test.each<[headers: Record<string, string>]>([
  [{ 'sec-fetch-site': 'cross-site' }],
  [{ 'sec-fetch-site': 'same-site' }],
  [{ origin: 'https://evil.example' }],
  [{ origin: 'http://127.0.0.1:8080' }],
  [{ origin: 'null' }],
])('%j comes from another page', (headers) => {
  expect(isForeign('http://127.0.0.1:4100/v1/topics', headers)).toBe(true)
})

test('such a page changes nothing, by either API, but links can be followed from anywhere', async () => {
  const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }
  const { status, body } = await api.call('DELETE', '/v1/topics/orders', { headers })
  expect([status, body.error.code]).toEqual([403, 'forbidden'])
  const arn = 'arn:aws:sns:us-east-1:000000000000:orders'
  const query = new URLSearchParams({ Action: 'DeleteTopic', TopicArn: arn })
  const answer = await api.call('GET', `/?${query}`, { headers })
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('AuthorizationError')])
  const input = { endpoint: 'https://example.com/', confirmation: 'handshake' }
  const { id } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body: input })).body
  const [message] = await waitingIn(api, id)
  const confirm = new URLSearchParams({
    Action: 'ConfirmSubscription',
    TopicArn: arn,
    Token: message?.token ?? '',
  })
  expect((await api.call('GET', `/?${confirm}`, { headers })).status).toBe(200)
  expect((await api.call('GET', '/healthz', { headers })).status).toBe(200)
})
