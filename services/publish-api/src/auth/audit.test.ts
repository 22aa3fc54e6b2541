/** Audit lines of refused changes name the key of the caller, whatever the reason of the refusal. */
import { DeleteTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { makeKey } from '@fantail/access'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi } from '../aws/sns/sns.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'
import { keyWith } from './keys.fixture.ts'
import { ruleOf } from './native-rules.ts'

const linesSince = ({ events }: TestApi, from: number) =>
  events
    .slice(from)
    .filter(({ event }) => event === 'audit')
    .map(({ fields }) => fields)

describe('the native API', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi({ auth: true })
  })
  afterAll(() => api.stop())

  test('every change that is refused for a missing scope names the key', async () => {
    const key = await keyWith(api, ['consume'])
    const changes = endpointsOf(api.deps).filter((endpoint) => {
      const { change, need } = ruleOf(endpoint)
      return change && need !== 'any' && need !== 'public'
    })
    expect(changes.length).toBeGreaterThan(20)
    for (const { method, path } of changes) {
      const from = api.events.length
      await key.call(method, path.replace(/\{(\w+)\}/g, 'x1'))
      expect(linesSince(api, from)).toMatchObject([
        {
          keyId: key.id,
          account: '000000000000',
          action: `${method} ${path}`,
          result: 'denied',
          code: 'forbidden',
        },
      ])
    }
  })

  test('so does one of a key for some names only, where a whole account is needed', async () => {
    const key = await keyWith(api, ['manage'], { prefixes: ['orders'] })
    const from = api.events.length
    await key.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['manage'] } })
    await key.call('DELETE', `/v1/keys/${key.id}`)
    expect(linesSince(api, from)).toMatchObject([
      { keyId: key.id, action: 'POST /v1/keys', status: 403 },
      { keyId: key.id, action: 'DELETE /v1/keys/{key}', status: 403 },
    ])
  })

  test('so does one past the key’s limit', async () => {
    const key = await keyWith(api, ['manage'], { maxRequestsPerSecond: 1 })
    const from = api.events.length
    const statuses = await Promise.all([1, 2, 3].map(() => key.status('DELETE', '/v1/topics/none')))
    expect(statuses).toContain(429)
    expect(linesSince(api, from).map(({ keyId }) => keyId)).toEqual([key.id, key.id, key.id])
    expect(linesSince(api, from)).toContainEqual(
      expect.objectContaining({ status: 429, code: 'rate_limited' }),
    )
  })

  test('an unknown key, or one with a wrong secret, is anonymous', async () => {
    const { id } = await keyWith(api, ['manage'])
    const from = api.events.length
    const headers = { Authorization: `Bearer ft_${id}_${'A'.repeat(43)}` }
    await api.call('DELETE', '/v1/topics/none', { headers })
    expect(linesSince(api, from)).toMatchObject([{ keyId: 'anonymous', status: 401 }])
  })
})

describe('behind a trusted proxy', () => {
  let aws: SnsApi
  const PROXY = { trustedProxies: ['127.0.0.0/8'] }
  const forwarded = (address: string) => ({ 'X-Forwarded-For': `198.51.100.1, ${address}` })
  beforeAll(async () => {
    aws = await startSnsApi(PROXY, { auth: true })
  })
  afterAll(() => aws.stop())

  async function call(method: string, path: string, headers: Record<string, string>, body?: object) {
    const type = body && { 'Content-Type': 'application/json' }
    const text = body && { body: JSON.stringify(body) }
    return fetch(`${aws.endpoint}${path}`, { method, headers: { ...type, ...headers }, ...text })
  }

  test('the lines of both APIs and of logins have the caller’s address, and texts in them are cut', async () => {
    const from = aws.api.events.length
    const headers = forwarded('203.0.113.9')
    await call('DELETE', `/v1/topics/${'x'.repeat(9_000)}`, headers)
    await call('GET', '/?Action=DeleteTopic&Version=2010-03-31&TopicArn=none', headers)
    await call('POST', '/v1/session', { ...headers, 'Sec-Fetch-Site': 'same-origin' }, { key: 'wrong' })
    const lines = linesSince(aws.api, from)
    expect(lines.map(({ action, address }) => [action, address])).toEqual([
      ['DELETE /v1/topics/{topic}', '203.0.113.9'],
      ['SNS:DeleteTopic', '203.0.113.9'],
      ['POST /v1/session', '203.0.113.9'],
    ])
    expect(JSON.stringify(lines[0]).length).toBeLessThan(600)
  })

  test('TLS that ends at the proxy counts for sessions', async () => {
    const { authorization } = await keyWith(aws.api, ['read'])
    const key = authorization.replace('Bearer ', '')
    const cookieOver = async (proto: string) => {
      const headers = { 'X-Forwarded-Proto': proto, 'Sec-Fetch-Site': 'same-origin' }
      return (await call('POST', '/v1/session', headers, { key })).headers.get('set-cookie')
    }
    expect(await cookieOver('https')).toMatch(/^__Host-fantail=.*; Secure/)
    expect(await cookieOver('https, http')).toMatch(/^fantail_session=/)
  })

  test('failed logins of one caller do not count for another', async () => {
    const logIn = (address: string) =>
      call(
        'POST',
        '/v1/session',
        { ...forwarded(address), 'Sec-Fetch-Site': 'same-origin' },
        { key: 'wrong' },
      )
    for (let n = 0; n < 5; n++) expect((await logIn('203.0.113.20')).status).toBe(401)
    expect((await logIn('203.0.113.20')).status).toBe(429)
    expect((await logIn('203.0.113.21')).status).toBe(401)
  })

  test('aws:SourceIp of a policy is the caller’s address', async () => {
    const key = await keyWith(aws.api, ['manage', 'publish', 'read'])
    const topic = { TopicArn: 'arn:aws:sns:us-east-1:000000000000:walled' }
    await key.call('PUT', '/v1/topics/walled')
    const Condition = { NotIpAddress: { 'aws:SourceIp': '203.0.113.0/24' } }
    const Statement = {
      Effect: 'Deny',
      Principal: '*',
      Action: 'SNS:Publish',
      Resource: topic.TopicArn,
      Condition,
    }
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [Statement] })
    await aws.api.deps.topics.update(topic.TopicArn, (record) => ({
      attributes: { ...record.attributes, Policy },
    }))
    aws.api.deps.topicCache.forget(topic.TopicArn)
    const publish = async (address: string) => {
      const headers = { ...forwarded(address), Authorization: key.authorization }
      return (await call('POST', '/v1/topics/walled/messages', headers, { message: 'x' })).status
    }
    expect([await publish('203.0.113.9'), await publish('198.51.100.1')]).toEqual([202, 403])
  })
})

describe('the AWS APIs', () => {
  let aws: SnsApi
  beforeAll(async () => {
    aws = await startSnsApi({ awsCredentials: [{ accessKeyId: 'AKIDROOT', secret: 'root' }] })
  })
  afterAll(() => aws.stop())

  async function clientsOf(scopes: Parameters<typeof keyWith>[1], maxRequestsPerSecond: number | null) {
    const { keys, vault } = aws.api.deps
    const set = { name: 'test', kind: 'aws' as const, prefixes: [], account: '000000000000' }
    const { record, shown } = makeKey({ ...set, scopes, maxRequestsPerSecond }, { vault, now: 1 })
    await keys.create(record)
    if (!('accessKeyId' in shown)) throw new Error('it is an access key')
    const options = { endpoint: aws.endpoint, region: 'us-east-1', credentials: shown, maxAttempts: 1 }
    return { id: record.id, sns: new SNSClient(options), sqs: new SQSClient(options) }
  }

  const topic = new DeleteTopicCommand({ TopicArn: 'arn:aws:sns:us-east-1:000000000000:none' })
  const queue = () => new DeleteQueueCommand({ QueueUrl: `${aws.endpoint}/000000000000/none` })

  test('a change that is refused for a missing scope names the key', async () => {
    const { id, sns, sqs } = await clientsOf(['publish'], null)
    const from = aws.api.events.length
    await refusalOf(sns.send(topic))
    await refusalOf(sqs.send(queue()))
    expect(linesSince(aws.api, from)).toMatchObject([
      { keyId: id, action: 'SNS:DeleteTopic', result: 'denied', code: 'AuthorizationError' },
      { keyId: id, action: 'SQS:DeleteQueue', result: 'denied', code: 'AccessDenied' },
    ])
  })

  test('so does one past the key’s limit', async () => {
    const { id, sns, sqs } = await clientsOf(['manage'], 1)
    const from = aws.api.events.length
    await Promise.all([1, 2].map(() => sns.send(topic).catch(() => undefined)))
    await refusalOf(sqs.send(queue()))
    expect(linesSince(aws.api, from).map(({ keyId }) => keyId)).toEqual([id, id, id])
    expect(linesSince(aws.api, from)).toContainEqual(
      expect.objectContaining({ status: 429, code: 'Throttled' }),
    )
    expect(linesSince(aws.api, from)).toContainEqual(
      expect.objectContaining({ status: 403, code: 'RequestThrottled', result: 'failed' }),
    )
  })
})
