/** A key with prefixes, or a key of another account, sees and changes only its own things. */
import { randomUUID } from 'node:crypto'
import { ConfirmSubscriptionCommand, ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns'
import { SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs'
import { makeKey } from '@fantail/access'
import type { KeyScope } from '@fantail/contracts'
import { ReplicaAcks, TopicQueues } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf } from '../aws/sns/sns.fixture.ts'
import { startTestApi, type TestApi, waitingIn } from '../fixtures/test-api.fixture.ts'
import { createApp } from '../server/app.ts'
import { type ApiServer, listen } from '../server/server.ts'
import { keyWith, type TestKey } from './keys.fixture.ts'

let api: TestApi
let server: ApiServer
let admin: TestKey
const closing: (() => void)[] = []
const MINE = 'arn:aws:sqs:us-east-1:000000000000:mine-dlq'

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  server = await listen(createApp(api.deps), { host: '127.0.0.1', port: 0 })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive'])
  for (const name of ['alpha', 'hidden-one', 'hidden-two', 'mine', 'zulu']) {
    await admin.call('PUT', `/v1/topics/${name}`)
    await admin.call('PUT', `/v1/queues/${name}`)
    const body = { endpoint: `https://example.com/${name}` }
    await admin.call('POST', `/v1/topics/${name}/subscriptions`, { body })
  }
})
afterAll(async () => {
  for (const close of closing) close()
  await server.close()
  await api.stop()
})

/** Clients that sign with a new key. The key is restricted to names that begin with `mine`. */
async function bound(scopes: KeyScope[]) {
  const { deps } = api
  const set = { name: 'x', kind: 'aws' as const, account: '000000000000', maxRequestsPerSecond: null }
  const { record, shown } = makeKey({ ...set, scopes, prefixes: ['mine'] }, { vault: deps.vault, now: 1 })
  await deps.keys.create(record)
  if (!('secretAccessKey' in shown)) throw new Error('an access key was wanted')
  const { accessKeyId, secretAccessKey } = shown
  const credentials = { accessKeyId, secretAccessKey }
  const options = {
    endpoint: `http://127.0.0.1:${server.port}`,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  }
  const clients = { sns: new SNSClient(options), sqs: new SQSClient(options) }
  closing.push(
    () => clients.sns.destroy(),
    () => clients.sqs.destroy(),
  )
  return clients
}

/** Reads every page of a list. Returns all items and cursors. */
async function walked(key: TestKey, path: string, member: string) {
  const items: { arn: string }[] = []
  const cursors: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await key.call('GET', `${path}?limit=1${cursor && `&cursor=${cursor}`}`)
    items.push(...body[member])
    if (body.nextCursor === null) return { items, cursors }
    cursor = body.nextCursor
    cursors.push(
      cursor,
      ...cursor.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1')),
    )
  }
}

test('pages reveal nothing that stands between a key’s own things', async () => {
  const { body } = await admin.call('GET', '/v1/subscriptions')
  const ids: string[] = body.subscriptions.map(({ id }: { id: string }) => id)
  const keys = [
    await keyWith(api, ['read'], { prefixes: ['mine'] }),
    await keyWith(api, ['read'], { account: '222222222222' }),
  ]
  for (const [n, key] of keys.entries()) {
    for (const member of ['topics', 'queues', 'subscriptions']) {
      const { items, cursors } = await walked(key, `/v1/${member}`, member)
      expect(items.map(({ arn }) => arn.split(':')[5])).toEqual(n === 0 ? ['mine'] : [])
      // A page of one item is full, and another follows. Pages without items are skipped.
      expect(cursors.length > 0).toBe(n === 0)
      for (const hidden of ['hidden', 'alpha', ...ids]) expect(cursors.join(' ')).not.toContain(hidden)
    }
  }
})

test('a cursor of another process is as good, one that was changed is refused', async () => {
  const key = await keyWith(api, ['read'], { prefixes: ['mine'] })
  const { nextCursor } = (await key.call('GET', '/v1/topics?limit=1')).body
  const other = createApp(api.deps)
  const { record, shown } = makeKey(
    {
      ...{ name: 'x', kind: 'native', scopes: ['read'], prefixes: [], account: '000000000000' },
      maxRequestsPerSecond: null,
    },
    { vault: undefined, now: 1 },
  )
  await api.deps.keys.create(record)
  const headers = { Authorization: `Bearer ${'token' in shown ? shown.token : ''}` }
  const next = await other.request(`/v1/topics?limit=1&cursor=${nextCursor}`, { headers })
  expect([next.status, ((await next.json()) as { topics: unknown[] }).topics]).toMatchObject([
    200,
    [{ name: 'zulu' }],
  ])
  const changed = await key.call('GET', `/v1/topics?cursor=${nextCursor.slice(0, -2)}`)
  expect([changed.status, changed.body.error.details[0].path]).toEqual([400, 'cursor'])
  // A made-up cursor is refused too. With it the caller could find out which names exist.
  const unsealed = (await api.deps.topics.list({ limit: 1 })).nextCursor
  expect(await key.status('GET', `/v1/topics?cursor=${unsealed}`)).toBe(400)
})

test('no filter of a list reveals foreign things', async () => {
  const key = await keyWith(api, ['read', 'redrive'], { prefixes: ['mine'] })
  const told = async (path: string) => {
    const { status, text } = await key.call('GET', path, { headers: { 'X-Request-Id': 'r' } })
    return [status, text]
  }
  const endpoint = (name: string) => `/v1/subscriptions?limit=1&endpoint=https://example.com/${name}`
  expect(await told(endpoint('zulu'))).toEqual(await told(endpoint('nobody')))
  expect((await told(endpoint('mine')))[1]).toContain('mine')
  for (const path of ['/v1/subscriptions?topic=', '/v1/redrives?source=']) {
    const unknown = await told(`${path}nobody`)
    expect(unknown[0]).toBe(403)
    expect(await told(`${path}zulu`)).toEqual([403, String(unknown[1]).replace('nobody', 'zulu')])
    expect((await told(`${path}mine`))[0]).toBe(200)
  }
})

test('a page is full where there is more, past any number of things that are cut; a bound ends the looking', async () => {
  const key = await keyWith(api, ['read'], { prefixes: ['mine', 'zz'] })
  for (let i = 0; i < 25; i++) await api.deps.topics.put(`arn:aws:sns:us-east-1:000000000000:p${i}`, {})
  await api.deps.topics.put('arn:aws:sns:us-east-1:000000000000:zz', {})
  const { items, cursors } = await walked(key, '/v1/topics', 'topics')
  expect(items.map(({ arn }) => arn.split(':')[5])).toEqual(['mine', 'zz'])
  expect(cursors.length).toBeGreaterThan(0)
  const { topics, nextCursor } = (await key.call('GET', '/v1/topics?limit=5')).body
  expect([topics.length, nextCursor]).toEqual([2, null])
  for (let i = 0; i < 25; i++) await api.deps.topics.delete(`arn:aws:sns:us-east-1:000000000000:p${i}`)
  await api.deps.topics.delete('arn:aws:sns:us-east-1:000000000000:zz')
})

test('nor do the pages of the AWS protocols', async () => {
  for (let i = 0; i < 101; i++) await api.deps.topics.put(`arn:aws:sns:us-east-1:000000000000:hidden${i}`, {})
  const { sns: client } = await bound(['read'])
  const first = await client.send(new ListTopicsCommand({}))
  expect(first.NextToken).toBeDefined()
  const parts = (first.NextToken ?? '')
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
  expect(parts.join(' ')).not.toContain('hidden')
  const second = await client.send(new ListTopicsCommand({ NextToken: first.NextToken }))
  const names = [...(first.Topics ?? []), ...(second.Topics ?? [])].map(
    ({ TopicArn }) => TopicArn?.split(':')[5],
  )
  expect(names).toEqual(['mine'])
  const forged = `${first.NextToken?.slice(0, -2)}`
  expect(await refusalOf(client.send(new ListTopicsCommand({ NextToken: forged })))).toMatchObject({
    status: 400,
  })
})

test('only a key for the name moves another’s dead letters back', async () => {
  await admin.call('PUT', '/v1/queues/mine-dlq')
  const policy = { redrivePolicy: { deadLetterTargetArn: 'mine-dlq' } }
  const queuePolicy = { redrivePolicy: { deadLetterTargetArn: MINE, maxReceiveCount: 3 } }
  const key = await keyWith(api, ['redrive'], { prefixes: ['mine'] })
  const { sqs } = await bound(['redrive'])
  const start = () => key.status('POST', '/v1/redrives', { source: 'mine-dlq', dryRun: true })
  const startByWire = () => refusalOf(sqs.send(new StartMessageMoveTaskCommand({ SourceArn: MINE })))
  await admin.call('PATCH', '/v1/queues/mine', { body: queuePolicy })
  expect(await start()).toBe(200)

  const { id } = (await admin.call('GET', '/v1/subscriptions?topic=hidden-one')).body.subscriptions[0]
  await admin.call('PATCH', `/v1/subscriptions/${id}`, { body: policy })
  expect(await start()).toBe(403)
  expect(await startByWire()).toMatchObject({
    status: 403,
    message: expect.not.stringContaining('hidden-one'),
  })
  expect(
    await key.status('POST', '/v1/redrives', { source: 'mine-dlq', destination: 'mine', dryRun: true }),
  ).toBe(200)
  await admin.call('PATCH', `/v1/subscriptions/${id}`, { body: { redrivePolicy: null } })
  expect(await start()).toBe(200)

  await admin.call('PATCH', '/v1/queues/zulu', { body: queuePolicy })
  expect(await start()).toBe(403)
  expect(await startByWire()).toMatchObject({ status: 403 })
  await admin.call('DELETE', '/v1/queues/zulu')
  expect(await start()).toBe(200)
})

test('a token of a foreign subscription confirms by its link alone, which needs no signature', async () => {
  const { sns: client } = await bound(['manage'])
  const pending = async (topic: string) => {
    const body = { endpoint: `https://example.com/${topic}/asked`, confirmation: 'handshake' }
    const { id, topicArn } = (await admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })).body
    const [message] = await waitingIn(api, id)
    return { id, TopicArn: topicArn, Token: message?.token ?? '', AuthenticateOnUnsubscribe: 'true' }
  }
  const [mine, other] = [await pending('mine'), await pending('hidden-one')]
  const confirm = (input: typeof mine) => client.send(new ConfirmSubscriptionCommand(input))
  expect((await confirm(mine)).SubscriptionArn).toContain(mine.id)
  const unknown = await refusalOf(confirm({ ...mine, Token: 'a'.repeat(288) }))
  expect(unknown).toMatchObject({ status: 400 })
  expect(await refusalOf(confirm(other))).toEqual(unknown)
  expect(await refusalOf(confirm({ ...other, TopicArn: mine.TopicArn }))).toEqual(unknown)
  const link = new URLSearchParams({ Action: 'ConfirmSubscription', ...other })
  expect((await fetch(`http://127.0.0.1:${server.port}/?${link}`)).status).toBe(200)
  expect(await api.deps.subscriptions.get(other.id)).toMatchObject({ status: 'active' })
  expect((await api.deps.subscriptions.get(other.id))?.authenticateOnUnsubscribe).toBeUndefined()
})

test('the keys of a topic may read and redrive the queue that it made, whatever its name, and no others may', async () => {
  const name = `mine-${'long-'.repeat(20)}topic`
  const topicArn = `arn:aws:sns:us-east-1:000000000000:${name}`
  const topicQueues = new TopicQueues({ acks: new ReplicaAcks(api.redis) })
  const { queueArn = '' } = (await topicQueues.find(topicArn)) ?? {}
  const letter = { id: randomUUID(), body: 'x', attributes: {} }
  await admin.call('PUT', `/v1/topics/${name}`)
  await topicQueues.send({ topicArn, queueArn, letter, bytesMax: 1e9, now: Date.now() })
  const queue = queueArn.split(':').at(-1)
  const scopes = ['read', 'redrive', 'manage'] as const
  const statuses = async (prefix: string) => {
    const key = await keyWith(api, [...scopes], { prefixes: [prefix] })
    const listed = (await key.call('GET', '/v1/queues')).body.queues.map(({ arn }: { arn: string }) => arn)
    return [
      await key.status('GET', `/v1/queues/${queue}`),
      await key.status('GET', `/v1/queues/${queue}/messages`),
      await key.status('POST', '/v1/redrives', { source: queue, dryRun: true }),
      await key.status('DELETE', `/v1/queues/${queue}`),
      listed.includes(queueArn),
    ]
  }
  expect(await statuses(name)).toEqual([200, 200, 200, 403, true])
  expect(await statuses(`${name}s`)).toEqual([403, 403, 403, 403, false])
})
