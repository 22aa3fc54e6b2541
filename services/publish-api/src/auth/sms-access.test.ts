/**
 * Text messages cost money. These tests check who may subscribe numbers, and who may change settings that concern all
 * text messages.
 */
import { GetSMSAttributesCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { makeKey, type NewKey } from '@fantail/access'
import type { KeyScope } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf } from '../aws/sns/sns.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp } from '../server/app.ts'
import { type ApiServer, listen } from '../server/server.ts'
import { keyWith } from './keys.fixture.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:alarms'
let api: TestApi
let server: ApiServer
const clients: SNSClient[] = []

beforeAll(async () => {
  const protocolSettings = { smsUrl: 'http://127.0.0.1:1', smsCountries: [{ prefix: '+1' }] }
  api = await startTestApi({ auth: true, protocolSettings })
  server = await listen(createApp(api.deps), { host: '127.0.0.1', port: 0 })
  await (await keyWith(api, ['manage'])).call('PUT', '/v1/topics/alarms')
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await server.close()
  await api.stop()
})

async function signing(scopes: KeyScope[], set: Partial<NewKey> = {}): Promise<SNSClient> {
  const wanted: NewKey = {
    ...{ name: 'x', kind: 'aws', scopes, prefixes: [], account: '000000000000', maxRequestsPerSecond: null },
    ...set,
  }
  const { record, shown } = makeKey(wanted, { vault: api.deps.vault, now: 1 })
  await api.deps.keys.create(record)
  if (!('secretAccessKey' in shown)) throw new Error('an access key was wanted')
  const { accessKeyId, secretAccessKey } = shown
  const client = new SNSClient({
    endpoint: `http://127.0.0.1:${server.port}`,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  })
  clients.push(client)
  return client
}

const subscribing = (Endpoint: string) => new SubscribeCommand({ TopicArn: TOPIC, Protocol: 'sms', Endpoint })

test('a number is subscribed, and a subscription moved to one, with the scope sms only', async () => {
  const manager = await keyWith(api, ['manage'])
  const owner = await keyWith(api, ['manage', 'sms'])
  const path = '/v1/topics/alarms/subscriptions'
  const refused = await manager.call('POST', path, { body: { endpoint: '+15550100' } })
  expect([refused.status, refused.body.error.message]).toEqual([403, `key ${manager.id} lacks the scope sms`])
  const { status, body } = await owner.call('POST', path, { body: { endpoint: '+15550100' } })
  expect(status).toBe(201)
  const move = { endpoint: '+1 555-0101' }
  expect(await manager.status('PATCH', `/v1/subscriptions/${body.id}`, move)).toBe(403)
  expect(await owner.status('PATCH', `/v1/subscriptions/${body.id}`, move)).toBe(200)
  expect((await refusalOf((await signing(['manage'])).send(subscribing('+1555/0102')))).status).toBe(403)
  const { SubscriptionArn } = await (await signing(['manage', 'sms'])).send(subscribing('+15550102'))
  expect(SubscriptionArn).toContain(TOPIC)
})

test('a key that is bound to prefixes never has the scope, also where its record has it', async () => {
  const owner = await keyWith(api, ['manage', 'sms'])
  const body = { name: 'x', scopes: ['manage', 'sms'], prefixes: ['alarms'] }
  const refused = await owner.call('POST', '/v1/keys', { body })
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [
      {
        path: 'scopes',
        message: 'must not have sms where prefixes are given: text messages cost the whole server money',
      },
    ],
  ])
  const set = { prefixes: ['alarms'] }
  const bound = await keyWith(api, ['manage', 'sms'], set)
  const endpoint = '+15550103'
  expect(await bound.status('POST', '/v1/topics/alarms/subscriptions', { endpoint })).toBe(403)
  expect(await bound.status('GET', '/v1/sms')).toBe(403)
  const client = await signing(['manage', 'sms'], set)
  expect((await refusalOf(client.send(subscribing(endpoint)))).status).toBe(403)
  expect((await refusalOf(client.send(new GetSMSAttributesCommand({})))).status).toBe(403)
})

test('settings, spend and opt-out list are for keys of the server’s own account with the scope', async () => {
  const owner = await keyWith(api, ['sms'])
  const manager = await keyWith(api, ['manage', 'read'])
  const other = await keyWith(api, ['sms'], { account: '222222222222' })
  const statuses = async (path: string, method = 'GET') =>
    Promise.all([owner, manager, other].map((key) => key.status(method, path)))
  expect(await statuses('/v1/sms')).toEqual([200, 403, 403])
  expect(await statuses('/v1/sms/opt-outs')).toEqual([200, 403, 403])
  expect(await statuses('/v1/sms/opt-outs/+15550100', 'PUT')).toEqual([200, 403, 403])
  const reading = new GetSMSAttributesCommand({})
  expect((await (await signing(['sms'])).send(reading)).attributes).toEqual({ MonthlySpendLimit: '1' })
  for (const client of [await signing(['manage']), await signing(['sms'], { account: '222222222222' })]) {
    expect((await refusalOf(client.send(reading))).status).toBe(403)
  }
})
