import { unsubscribeLink } from '@fantail/delivery'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snsOperations, sqsOperations } from '../aws/aws-operations.ts'
import { startTestApi, type TestApi, waitingIn } from '../fixtures/test-api.fixture.ts'
import { createForeignPages } from './foreign-page.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
})
afterAll(() => api.stop())

function isForeign(url: string, headers: Record<string, string> = {}, publicUrl?: string): boolean {
  const foreign = createForeignPages({ mode: 'local', publicUrl, hosts: ['api'], corsOrigins: undefined })
  try {
    foreign.refusePage({ url, header: (name) => headers[name] })
    return false
  } catch {
    return true
  }
}

test.each([
  'localhost',
  '127.0.0.1:4100',
  '127.8.9.1',
  '[::1]:4100',
  'LOCALHOST.',
  'api:4100',
  'a.localhost',
])('%s is a name of this machine', (host) => {
  expect(isForeign(`http://${host}/v1/topics`)).toBe(false)
  expect(isForeign(`http://${host}`, { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toBe(
    false,
  )
})

test.each(['evil.example', 'host.docker.internal', 'fantail.test', 'worker', 'x.ngrok.app'])(
  '%s is not',
  (host) => {
    expect(isForeign(`http://${host}/v1/topics`)).toBe(true)
    expect(isForeign(`http://${host}/`, {}, `https://${host}/base`)).toBe(false)
  },
)

test.each([
  ['GET', '/healthz'],
  ['GET', '/openapi.json'],
  ['GET', '/docs'],
  ['GET', '/metrics'],
  ['GET', '/v1/topics'],
  ['PUT', '/v1/topics/rebound'],
  ['GET', `/SimpleNotificationService-${'0'.repeat(32)}.pem`],
  ['GET', '/?Action=ListTopics'],
  ['GET', '/?Action=ConfirmSubscription&TopicArn=x&Token=x'],
  ['GET', '/?Action=Unsubscribe&SubscriptionArn=x'],
  ['GET', '/000000000000/q?Action=ReceiveMessage'],
])(
  'under another host name nothing is served, and the refusal names the setting: %s %s',
  async (method, path) => {
    const { status, text } = await api.call(method, `http://evil.example${path}`)
    expect([status, text]).toEqual([403, expect.stringContaining('FANTAIL_HOSTS')])
  },
)

test.each<[headers: Record<string, string>]>([
  [{ 'sec-fetch-site': 'cross-site' }],
  [{ 'sec-fetch-site': 'same-site' }],
  [{ origin: 'https://evil.example' }],
  [{ origin: 'http://127.0.0.1:8080' }],
  [{ origin: 'null' }],
])('%j comes from another page', (headers) => {
  expect(isForeign('http://127.0.0.1:4100/v1/topics', headers)).toBe(true)
})

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

test.each<[status: number, method: string, headers: Record<string, string>]>([
  [403, 'GET', { 'User-Agent': BROWSER }],
  [403, 'HEAD', { 'User-Agent': BROWSER }],
  [403, 'GET', { 'User-Agent': BROWSER, 'Sec-Fetch-Site': 'cross-site' }],
  [403, 'GET', { 'User-Agent': BROWSER, 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' }],
  [403, 'GET', { 'User-Agent': BROWSER, 'Sec-Fetch-Site': 'none', 'Upgrade-Insecure-Requests': '1' }],
  [403, 'POST', { 'User-Agent': BROWSER, 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'navigate' }],
  [200, 'GET', { 'User-Agent': BROWSER, 'Sec-Fetch-Site': 'same-origin' }],
  [200, 'GET', { 'User-Agent': 'curl/8.14.1' }],
  [200, 'GET', { 'User-Agent': 'aws-cli/2.27.0 md/awscrt' }],
  [200, 'GET', {}],
])('an image of a page is no way to change something: %i for %s with %j', async (status, method, headers) => {
  expect((await api.call(method, '/?Action=ListTopics', { headers })).status).toBe(status)
})

test('such a page changes nothing, by either API, but programs can follow links from anywhere', async () => {
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
  expect(
    (await api.call('GET', `/?${confirm}`, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status,
  ).toBe(200)
  expect((await api.call('GET', '/healthz', { headers })).status).toBe(200)
})

const REDIRECTED: Record<string, string>[] = [
  ['Sec-Fetch-Mode', 'navigate'],
  ['Upgrade-Insecure-Requests', '1'],
].map(([name = '', value = '']) => ({
  'User-Agent': BROWSER,
  Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'Sec-Fetch-Site': 'none',
  [name]: value,
}))
test.each(REDIRECTED)('a browser that a page redirects here performs no operation: %j', async (headers) => {
  const arn = 'arn:aws:sns:us-east-1:000000000000:orders'
  const operations = [...snsOperations(api.deps), ...sqsOperations(api.deps)].map(({ name }) => name)
  expect(operations).toEqual(expect.arrayContaining(['Publish', 'DeleteQueue', 'Unsubscribe']))
  for (const Action of operations.filter(
    (name) => name !== 'ConfirmSubscription' && name !== 'Unsubscribe',
  )) {
    for (const path of ['/', '/000000000000/orders']) {
      const query = new URLSearchParams({ Action, TopicArn: arn, QueueUrl: path, Message: 'x' })
      const { status, text } = await api.call('GET', `${path}?${query}`, { headers })
      expect([Action, status, text]).toEqual([Action, 403, expect.stringContaining('a browser opens')])
    }
  }
})

test.each(REDIRECTED)(
  'a browser that opens a link asks by a button, other programs act: %j',
  async (headers) => {
    const body = { endpoint: 'https://example.com/asked', confirmation: 'handshake' }
    const { id, arn, topicArn } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body
    const [message] = await waitingIn(api, id)
    const statusOf = async () => (await api.call('GET', `/v1/subscriptions/${id}`)).body.status
    const confirm = { Action: 'ConfirmSubscription', TopicArn: topicArn, Token: message?.token ?? '' }
    const page = await openedAs(headers, confirm)
    expect([page, await statusOf()]).toEqual(['/confirmation.html', 'pending'])
    const java = { 'User-Agent': 'Java/21.0.4', Accept: 'text/html, image/gif, image/jpeg, */*; q=0.2' }
    expect((await api.call('GET', `/?${new URLSearchParams(confirm)}`, { headers: java })).status).toBe(200)
    expect(await statusOf()).toBe('active')
    const link = unsubscribeLink('http://localhost', arn, await api.deps.linkKey.get())
    const leave = { Action: 'Unsubscribe', ...Object.fromEntries(new URL(link).searchParams) }
    expect([await openedAs(headers, leave), await statusOf()]).toEqual(['/unsubscribe.html', 'active'])
    await api.call('DELETE', `/v1/subscriptions/${id}`)
  },
)

/** The path of the page that the browser gets for the link. Its button is there. */
async function openedAs(headers: Record<string, string>, link: Record<string, string>): Promise<string> {
  const answer = await api.call('GET', `/?${new URLSearchParams(link)}`, { headers })
  const to = new URL(answer.headers.get('location') ?? '', 'http://localhost/')
  const { status, text } = await api.call('GET', to.pathname + to.search, { headers })
  expect([answer.status, status, text]).toEqual([303, 200, expect.stringContaining('<form method="post">')])
  return to.pathname
}

test('a page of another site cannot unsubscribe by the ARN alone', async () => {
  const body = { endpoint: 'https://example.com/known' }
  const { id, arn } = (await api.call('POST', '/v1/topics/orders/subscriptions', { body })).body
  const query = new URLSearchParams({ Action: 'Unsubscribe', SubscriptionArn: arn })
  const pages: Record<string, string>[] = [{ 'Sec-Fetch-Site': 'cross-site' }, { 'User-Agent': BROWSER }]
  for (const headers of pages) {
    expect((await api.call('GET', `/?${query}`, { headers })).status).toBe(403)
  }
  expect((await api.call('GET', `/v1/subscriptions/${id}`)).status).toBe(200)
})
