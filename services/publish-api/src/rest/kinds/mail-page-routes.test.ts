/** Tests the links in mails. No mail is sent: the tokens are read from waiting deliveries in the lanes. */
import { unsubscribeLink } from '@fantail/delivery'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi, waitingIn } from '../../fixtures/test-api.fixture.ts'
import { askToConfirmPage, confirmedPage } from './mail-pages.ts'

let api: TestApi
let addresses = 0

beforeAll(async () => {
  api = await startTestApi({ protocolSettings: { smtpUrl: 'smtp://127.0.0.1:1' } })
  await api.call('PUT', '/v1/topics/news')
})
afterAll(() => api.stop())
afterEach(() => {
  api.deps.settings.emailConfirmOnGet = false
})

interface Subscribed {
  id: string
  arn: string
  /** Path and query of the link to confirm. */
  confirmation: string
}

async function subscribe(more: object = {}): Promise<Subscribed> {
  const endpoint = `reader-${addresses++}@example.com`
  const { status, body } = await api.call('POST', '/v1/topics/news/subscriptions', {
    body: { endpoint, ...more },
  })
  expect([status, body.status, body.protocol]).toEqual([201, 'pending', 'email'])
  const [asked] = await waitingIn(api, body.id)
  expect(asked?.kind).toBe('SubscriptionConfirmation')
  const query = new URLSearchParams({
    TopicArn: body.topicArn,
    Token: asked?.token ?? '',
    Endpoint: endpoint,
  })
  return { id: body.id, arn: body.arn, confirmation: `/confirmation.html?${query}` }
}

async function subscribed(): Promise<Subscribed> {
  const one = await subscribe()
  await api.call('POST', one.confirmation)
  return one
}

async function leaveLink(arn: string): Promise<string> {
  return unsubscribeLink('', arn, await api.deps.linkKey.get())
}

const statusOf = async (id: string) => {
  const { status, body } = await api.call('GET', `/v1/subscriptions/${id}`)
  return status === 200 ? body.status : status
}
const titleOf = (text: string) => /<h1>(.*)<\/h1>/.exec(text)?.[1]

test('[321] opening the link that confirms shows a button, and pressing it confirms', async () => {
  const { id, arn, confirmation } = await subscribe()
  const shown = await api.call('GET', confirmation)
  expect([shown.status, titleOf(shown.text)]).toEqual([200, 'Confirm your subscription'])
  expect(shown.text).toContain('<form method="post">')
  expect(await statusOf(id)).toBe('pending')
  const confirmed = await api.call('POST', confirmation)
  expect([confirmed.status, titleOf(confirmed.text)]).toEqual([200, 'Subscription confirmed!'])
  expect(confirmed.text).toContain(arn)
  expect(await statusOf(id)).toBe('active')
  expect((await api.call('POST', confirmation)).status).toBe(200)
  const [path = ''] = /\/unsubscribe\.html\?[^"]+/.exec(confirmed.text.replaceAll('&amp;', '&')) ?? []
  expect(titleOf((await api.call('GET', path)).text)).toBe('Unsubscribe')
})

test('[321] opening the link confirms at once if the settings say so', async () => {
  api.deps.settings.emailConfirmOnGet = true
  const { id, confirmation } = await subscribe()
  expect(titleOf((await api.call('GET', confirmation)).text)).toBe('Subscription confirmed!')
  expect(await statusOf(id)).toBe('active')
})

test('a link with a wrong, a missing or an expired token confirms nothing', async () => {
  const { id, confirmation } = await subscribe()
  for (const path of [
    confirmation.replace(/Token=..../, 'Token=0000'),
    '/confirmation.html',
    '/confirmation.html?Token=x',
  ]) {
    for (const method of ['GET', 'POST']) {
      const { status, text } = await api.call(method, path)
      expect([status, titleOf(text)]).toEqual([400, 'This link is not valid'])
    }
  }
  await api.deps.subscriptions.update(id, () => ({ tokenExpiresAt: Date.now() - 1 }))
  expect((await api.call('GET', confirmation)).status).toBe(400)
  expect((await api.call('POST', confirmation)).status).toBe(400)
  expect(await statusOf(id)).toBe('pending')
})

test('[323] a subscription that is not confirmed within its time is deleted', async () => {
  const { id, confirmation } = await subscribe()
  const record = await api.deps.subscriptions.get(id)
  expect((record?.tokenExpiresAt ?? 0) - Date.now()).toBeGreaterThan(47.9 * 3_600_000)
  await api.deps.subscriptions.update(id, () => ({ tokenExpiresAt: 1 }))
  expect(await api.deps.subscriptions.expirePending()).toBeGreaterThan(0)
  expect(await statusOf(id)).toBe(404)
  expect((await api.call('POST', confirmation)).status).toBe(400)
})

test('[331] opening the link that unsubscribes removes nothing, and pressing its button does', async () => {
  const { id, arn } = await subscribed()
  const link = await leaveLink(arn)
  const shown = await api.call('GET', link)
  expect([shown.status, titleOf(shown.text)]).toEqual([200, 'Unsubscribe'])
  expect(await statusOf(id)).toBe('active')
  const removed = await api.call('POST', link)
  expect([removed.status, titleOf(removed.text)]).toEqual([200, 'Subscription removed!'])
  expect(await statusOf(id)).toBe(404)
  expect(titleOf((await api.call('GET', link)).text)).toBe('Subscription removed!')
})

test('[330][332] one click of a mail program removes it, and the mail that follows restores it', async () => {
  const { id, arn } = await subscribed()
  const link = await leaveLink(arn)
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const click = { body: 'List-Unsubscribe=One-Click', headers }
  expect((await api.call('POST', link, click)).status).toBe(200)
  expect((await api.call('POST', link, click)).status).toBe(200)
  expect(await statusOf(id)).toBe(404)
  const [farewell] = await waitingIn(api, id)
  expect(farewell?.kind).toBe('UnsubscribeConfirmation')
  const restoring = `/confirmation.html?Token=${farewell?.token}`
  expect(titleOf((await api.call('GET', restoring)).text)).toBe('Confirm your subscription')
  expect((await api.call('POST', restoring)).status).toBe(200)
  expect(await statusOf(id)).toBe('active')
  // Links of earlier mails still work.
  expect(titleOf((await api.call('GET', link)).text)).toBe('Unsubscribe')
})

test('[330] one click may come as a multipart form', async () => {
  const { id, arn } = await subscribed()
  const body = '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  expect((await api.call('POST', await leaveLink(arn), { body, headers })).status).toBe(200)
  expect(await statusOf(id)).toBe(404)
})

test('[333] a subscription that only its owner may remove is not removed by its link', async () => {
  const { id, arn } = await subscribed()
  await api.deps.subscriptions.update(id, () => ({ authenticateOnUnsubscribe: true }))
  const { status, text } = await api.call('POST', await leaveLink(arn))
  expect([status, titleOf(text)]).toEqual([403, 'Not removed'])
  expect(await statusOf(id)).toBe('active')
})

test('a link that is forged removes nothing', async () => {
  const { id, arn } = await subscribed()
  const other = await subscribed()
  const link = await leaveLink(arn)
  const forged = [
    link.replace(/Token=....../, 'Token=AAAAAA'),
    link.replace(encodeURIComponent(arn), encodeURIComponent(other.arn)),
    '/unsubscribe.html',
    `/unsubscribe.html?SubscriptionArn=${arn}`,
  ]
  for (const path of forged) {
    for (const method of ['GET', 'POST']) expect((await api.call(method, path)).status).toBe(400)
  }
  expect([await statusOf(id), await statusOf(other.id)]).toEqual(['active', 'active'])
})

test('pages escape what they show, and no script or frame runs in them', async () => {
  const evil = `"><script>alert('x')</script>&<img src=x>`
  for (const { text } of [askToConfirmPage(evil, evil), confirmedPage(evil, evil)]) {
    expect(String(text)).not.toMatch(/<script|<img/)
    expect(String(text)).toContain('&lt;script&gt;')
  }
  const { headers } = await api.call('GET', (await subscribe()).confirmation)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  const policy = headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("form-action 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-store')
})

test('the fourth mail of a day that asks one address is refused, and what it got still confirms', async () => {
  const { id, confirmation } = await subscribe()
  const again = () => api.call('POST', `/v1/subscriptions/${id}/send-confirmation`)
  expect([(await again()).status, (await again()).status, (await again()).status]).toEqual([200, 200, 429])
  expect((await api.call('POST', confirmation)).status).toBe(400)
  const latest = (await api.deps.subscriptions.get(id))?.token
  expect((await api.call('POST', `/confirmation.html?Token=${latest}`)).status).toBe(200)
})
