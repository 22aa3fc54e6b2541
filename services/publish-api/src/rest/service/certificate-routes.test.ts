import { verify, X509Certificate } from 'node:crypto'
import { topicArn } from '@fantail/contracts'
import { signingPairKey } from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api.stop())
beforeEach(async () => {
  await api.redis.flushall()
  api.attempts.length = 0
})

async function tested(signing: 'none' | 'sns'): Promise<Record<string, string>> {
  await api.deps.topics.put(topicArn('orders'), { signing })
  const endpoint = { endpoint: 'http://hooks.example.com/in' }
  const { body } = await api.call('POST', '/v1/topics/orders/subscriptions', { body: endpoint })
  expect((await api.call('POST', `/v1/subscriptions/${body.id}/test`)).status).toBe(200)
  return JSON.parse(api.attempts[0]?.body ?? '{}')
}

test('[72] a signed test message is checked by the certificate that is served', async () => {
  const envelope = await tested('sns')
  const { pathname } = new URL(envelope.SigningCertURL ?? '')
  const { status, headers, text } = await api.call('GET', pathname)
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-pem-file'])
  const names = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
  const signed = names.map((name) => `${name}\n${envelope[name]}\n`).join('')
  const signature = Buffer.from(envelope.Signature ?? '', 'base64')
  expect(verify('sha1', Buffer.from(signed), new X509Certificate(text).publicKey, signature)).toBe(true)
})

test('a topic that does not sign needs no key', async () => {
  expect(await tested('none')).not.toHaveProperty('Signature')
  expect(await api.redis.exists(signingPairKey())).toBe(0)
})

test('an unknown certificate is not found, and nothing is there under other names', async () => {
  for (const name of ['0'.repeat(32), '0'.repeat(31), 'A'.repeat(32), '..%2Fx'])
    expect((await api.call('GET', `/SimpleNotificationService-${name}.pem`)).status).toBe(404)
})
