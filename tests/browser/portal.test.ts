/**
 * The portal in a real browser: a customer's whole way, every screen by the rules of accessibility at two widths and in
 * both themes, a second language, and a frame of another page. `npm test` runs the way alone.
 */
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { freePort, type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import type { Locator, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { axeProblems, type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'
import {
  type Call,
  callerOf,
  makeCatalogue,
  PORTAL_SCOPES,
  pathOfLink,
  weekOfFigures,
} from './portal-links.ts'

const isLong = process.env.FANTAIL_BROWSER_LONG === '1' && whyNoBrowser === undefined
const PICTURES = fileURLToPath(new URL('../../docs/console/', import.meta.url))
/** Screens of which docs/console.md has a picture. */
const DOCUMENTED: Record<string, string> = {
  'list light 1280': 'portal',
  'endpoint dark 1280': 'portal-endpoint',
}
const THEME = { name: 'Acme events', colour: '#0b6e75' }
/** A page here may show the portal in a frame. */
const SHOP_PORT = await freePort()
const FANTAIL_PORTAL_ORIGINS = `http://127.0.0.1:${SHOP_PORT}`
const KEPT_IN_BROWSER = 'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])'

const stack = useStack({ redrive: true, env: { FANTAIL_AUTH: 'on', FANTAIL_PORTAL_ORIGINS } })
let browser: ConsoleBrowser
let hooks: Receiver
let call: Call
beforeAll(async () => {
  if (whyNoBrowser !== undefined) return
  browser = await startBrowser(stack().api.url)
  hooks = await startReceiver()
  call = callerOf(stack())
})
afterAll(async () => {
  await browser?.close()
  await hooks?.close()
})

const grantFor = (prefix: string) => ({ prefixes: [prefix], scopes: PORTAL_SCOPES, theme: THEME })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
const button = (place: Page | Locator, name: string | RegExp) =>
  place.getByRole('button', { name, exact: true })
const publish = (topic: string, eventType: string, message: object) =>
  call<{ messageId: string }>('POST', `/v1/topics/${topic}/messages`, { message, eventType })
/** The browser moves the focus in a frame after the change of the page. */
const focusMovesTo = (page: Page, property: 'tagName' | 'textContent' | 'type', text: string) =>
  waitFor(
    async () => (await page.evaluate<string>(`String(document.activeElement.${property})`)).startsWith(text),
    { what: `the focus to move to ${text}` },
  )
const messages = (page: Page) => page.getByRole('list', { name: 'Messages' })

test('a customer adds, tests, watches, mends, changes and deletes an endpoint', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  await makeCatalogue(call, 'acme-orders')
  const link = await pathOfLink(call, grantFor('acme-'))
  const page = await browser.open(link)
  await page.getByText('You have no endpoint yet').waitFor()
  await page.getByText('Acme events').waitFor()
  expect(page.url()).toBe(`${stack().api.url}/portal/`)

  await button(page, 'Add endpoint').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('ftp://example.com')
  await button(dialog, 'Add endpoint').click()
  await dialog.getByText(/^Enter an https address/).waitFor()
  await focusMovesTo(page, 'type', 'url')
  await dialog.getByLabel('Address').fill(`${hooks.url}/erp`)
  await dialog.getByLabel('Name').fill('ERP')
  await dialog.getByLabel('Only those that I choose').check()
  await dialog.getByText('What order.paid looks like').click()
  await dialog.getByText('Number of the order.').first().waitFor()
  await dialog.getByLabel('Everything that begins with order.').check()
  await button(dialog, 'Add endpoint').click()

  await heading(page, 'ERP')
  await focusMovesTo(page, 'tagName', 'H1')
  await page
    .getByText(/^Nothing has been sent yet\. The first message/)
    .first()
    .waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? ''
  expect(await page.evaluate<string>(KEPT_IN_BROWSER)).not.toMatch(/fps_|fpl_|whsec_/)
  await button(page, 'I have stored it').click()
  await page.getByText(/^whsec_/).waitFor({ state: 'detached' })

  await button(page, 'Send a test').click()
  await dialog.getByLabel('Which message?').selectOption('Example of order.paid')
  await button(dialog, 'Send').click()
  await dialog.getByText(/^It works: your endpoint answered 200/).waitFor()
  const [tested] = await hooks.waitForRequests(1, '/erp')
  expect(tested?.text).toMatch(/total\W+19\.9/)
  await page.keyboard.press('Escape')
  await focusMovesTo(page, 'textContent', 'Send a test')

  hooks.clear()
  await publish('acme-orders', 'invoice.sent', { invoice: 1 })
  await publish('acme-orders', 'order.paid', { order: 8 })
  const [first, ...others] = await hooks.waitForRequests(1, '/erp')
  expect(others).toEqual([])
  expect(first?.text).toMatch(/order\W+8/)
  expect(new Webhook(secret).verify(first?.text ?? '', headersOf(first?.headers))).toBeTruthy()
  await messages(page).getByText('delivered').first().waitFor()

  // A status that no retry changes.
  hooks.respond('/erp', { status: 404, body: 'no such order' })
  await publish('acme-orders', 'order.shipped', { order: 9 })
  await page.getByLabel('Show', { exact: true }).selectOption('failed')
  const failed = messages(page).getByRole('button', { name: /failed/ })
  await failed.click()
  await messages(page).getByText('order.shipped').first().waitFor()
  await messages(page)
    .getByText(/answered 404, after/)
    .waitFor()
  await messages(page).getByText('"order": 9').waitFor()
  hooks.respond('/erp', { status: 200 })
  hooks.clear()
  await button(page, 'Send again').click()
  await page.getByText(/^Sent again/).waitFor()
  await hooks.waitForRequests(1, '/erp')

  hooks.respond('/erp', { status: 404 })
  const { messageId } = await publish('acme-orders', 'order.paid', { order: 10 })
  const dead = () => call<object>('GET', '/v1/messages?topic=acme-orders&state=deadLettered')
  await waitFor(async () => JSON.stringify(await dead()).includes(messageId))
  hooks.respond('/erp', { status: 200 })
  hooks.clear()
  await button(page, 'Send failed again').click()
  await dialog.getByText(/, at most 10 a second\.$/).waitFor()
  await dialog.getByRole('button', { name: /^Send [12] messages? again$/ }).click()
  await page.getByText(/will be sent again\. The results/).waitFor()
  await waitFor(() => hooks.requestsTo('/erp').some(({ text }) => /order\W+10/.test(text)))

  await button(page, 'Edit').click()
  await dialog.getByLabel('Name').fill('ERP, Vienna')
  await dialog.getByLabel('Messages a second, at most').fill('0.0001')
  expect(await button(dialog, 'Save').isDisabled()).toBe(true)
  await dialog.getByLabel('Messages a second, at most').fill('5')
  await button(dialog, 'Save').click()
  await heading(page, 'ERP, Vienna')
  await page.getByText('at most 5 a second', { exact: true }).waitFor()
  await button(page, 'Change address').click()
  await dialog.getByLabel('Address').fill(`${hooks.url}/erp-2`)
  await button(dialog, 'Change address').click()
  await page.getByText(`${hooks.url}/erp-2`, { exact: true }).waitFor()
  await button(page, 'Pause').click()
  await page.getByText(/^Nothing is sent while/).waitFor()
  await button(page, 'Resume').click()
  await button(page, 'Pause').waitFor()
  await button(page, 'Make a new secret').click()
  await button(page.getByRole('alertdialog'), 'Make a new secret').click()
  await page.getByText(/^whsec_/).waitFor()
  expect(await page.getByText(/^whsec_/).textContent()).not.toBe(secret)

  await page.goBack()
  await heading(page, 'Endpoints')
  await focusMovesTo(page, 'textContent', 'ERP, Vienna')
  await page.keyboard.press('Enter')
  await heading(page, 'ERP, Vienna')
  await button(page, 'Delete').click()
  await button(page.getByRole('alertdialog'), 'Delete').click()
  await page.getByText('You have no endpoint yet').waitFor()
  await focusMovesTo(page, 'tagName', 'H1')

  await page.reload()
  await page.getByText('Open this page by a link').waitFor()
  const again = await browser.open(link)
  await again.getByText('This link did not open').waitFor()
  expect(browser.problems).toEqual([])
}, 180_000)

function headersOf(headers: NodeJS.Dict<string | string[]> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

describe.runIf(isLong)('the portal', () => {
  /** Endpoints of all states and with messages of all kinds. */
  async function makeBusyCustomer(topic: string): Promise<void> {
    await makeCatalogue(call, topic)
    const add = (path: string, settings: object) =>
      call<{ id: string }>('POST', `/v1/topics/${topic}/subscriptions`, {
        endpoint: `${hooks.url}/${path}`,
        ...settings,
      })
    hooks.respond('/refuses', { status: 404 })
    hooks.respond('/fails', { status: 503 })
    await add('works', { name: 'Warehouse', eventTypes: ['order.*'] })
    await add('refuses', { name: 'Billing' })
    const fails = { healthyRetryPolicy: { numRetries: 20, minDelayTarget: 1, maxDelayTarget: 3_600 } }
    await add('fails', { eventTypes: ['order.paid', 'invoice.sent'], deliveryPolicy: fails })
    await add(`${'incoming'.repeat(12)}?token=${'x'.repeat(40)}`, { confirmation: 'handshake' })
    const { id } = await add('paused', { name: 'Old shop' })
    await call('POST', `/v1/subscriptions/${id}/pause`)
    for (let order = 1; order <= 5; order++) {
      await publish(topic, 'order.paid', { order, total: 12.5, buyer: 'Hooli' })
    }
    await hooks.waitForRequests(5, '/works')
  }

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'every screen keeps the rules of accessibility, %s, %i pixels wide',
    async (theme, width) => {
      const topic = `busy-${theme}-${width}`
      await makeBusyCustomer(topic)
      const page = await browser.open(await pathOfLink(call, grantFor(topic)), { theme, width, height: 844 })
      await page.route('**/stats', (route) => route.fulfill({ json: weekOfFigures() }))
      const found: unknown[] = []
      const look = async (screen: string) => {
        await waitFor(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0)
        found.push(...(await axeProblems(page)).map((problem) => [screen, problem]))
        const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
        if (isWider) found.push([screen, `wider than ${width} pixels`])
        const picture = DOCUMENTED[`${screen} ${theme} ${width}`]
        if (picture) await page.screenshot({ path: `${PICTURES}${picture}.png`, fullPage: true })
      }
      const dialog = page.getByRole('dialog')
      const close = () => page.keyboard.press('Escape')
      await page.getByText('5 endpoints', { exact: true }).waitFor()
      await look('list')
      await page.getByLabel('State').selectOption('paused')
      await page.getByText('1 endpoint', { exact: true }).waitFor()
      await page.getByLabel('Name or address contains').fill('nothing like it')
      await page.getByText('No endpoint fits').waitFor()
      await look('no-match')
      await button(page, 'Show all endpoints').click()
      await button(page, 'Add endpoint').click()
      await dialog.getByLabel('Address').waitFor()
      await look('add')
      await close()
      await page.getByRole('button', { name: /Billing/ }).click()
      await heading(page, 'Billing')
      await messages(page)
        .getByRole('button', { name: /failed/ })
        .first()
        .click()
      await page
        .getByText(/answered 404, after/)
        .first()
        .waitFor()
      await page.getByText('How to check the signature').click()
      await page.getByText('The same as a table').click()
      await look('endpoint')
      for (const [name, screen] of [
        ['Send a test', 'test'],
        ['Edit', 'edit'],
        ['Change address', 'address'],
        ['Send failed again', 'resend'],
      ] as const) {
        await button(page, name).click()
        await dialog.waitFor()
        await look(screen)
        await close()
      }
      await button(page, 'Delete').click()
      await page.getByRole('alertdialog').waitFor()
      await look('delete')
      await close()
      await button(page, 'Make a new secret').click()
      await button(page.getByRole('alertdialog'), 'Make a new secret').click()
      await page.getByText(/^whsec_/).waitFor()
      await look('secret')
      expect(found).toEqual([])
      expect(browser.problems).toEqual([])
      await page.close()
    },
    120_000,
  )

  test('German is the language if the link or the browser names it, with the dates of its region', async () => {
    await makeCatalogue(call, 'wien-orders')
    const grant = { ...grantFor('wien-'), theme: {} }
    const page = await browser.open(await pathOfLink(call, grant), { locale: 'de-AT' })
    await page.getByText('Sie haben noch keinen Endpunkt').waitFor()
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('de')
    await button(page, 'Endpunkt hinzufügen').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Adresse').fill('ftp://example.com')
    await button(dialog, 'Endpunkt hinzufügen').click()
    await dialog.getByText(/^Geben Sie eine https-Adresse ein/).waitFor()
    await dialog.getByLabel('Adresse').fill(`${hooks.url}/wien`)
    await button(dialog, 'Endpunkt hinzufügen').click()
    await heading(page, `${hooks.url}/wien`)
    await page.getByText('Ihr Geheimnis für Signaturen').waitFor()
    expect(await axeProblems(page)).toEqual([])
    const other = await browser.open(await pathOfLink(call, { ...grant, language: 'de' }))
    await heading(other, 'Endpunkte')
    await button(other, 'Sitzung beenden').click()
    await heading(other, 'Ihre Sitzung ist beendet')
    expect(browser.problems).toEqual([])
  })

  test('a session that may only read has no button that changes anything and no contents, and the list keeps its filter', async () => {
    await makeBusyCustomer('reader-orders')
    const page = await browser.open(await pathOfLink(call, { prefixes: ['reader-'], scopes: ['read'] }))
    await page.getByLabel('State').selectOption('failing')
    await page.getByRole('button', { name: /Billing/ }).click()
    await messages(page).getByRole('button').first().click()
    await page.getByText('The content is not shown in this session.').waitFor()
    const names = await page.locator('main').getByRole('button').allTextContents()
    expect(names.filter((name) => /test|pause|edit|delete|again|secret/i.test(name))).toEqual([])
    expect(await page.locator('main').textContent()).not.toContain('Hooli')
    await page.goBack()
    expect(await page.getByLabel('State').inputValue()).toBe('failing')
    expect(browser.problems).toEqual([])
  })

  test('the portal works in a frame of the listed origin, and in no frame of another one', async () => {
    await call('PUT', '/v1/topics/framed-orders', {})
    const link = await pathOfLink(call, { prefixes: ['framed-orders'], scopes: ['read', 'manage'] })
    const otherPort = await freePort()
    const closings = await Promise.all([SHOP_PORT, otherPort].map((port) => startShop(port, link)))
    const page = await browser.open('/console/')
    // The same host with another port, and another name of the same host.
    for (const origin of [`http://127.0.0.1:${otherPort}`, `http://localhost:${SHOP_PORT}`]) {
      await page.goto(origin)
      await waitFor(() => page.frames()[1]?.url().startsWith('chrome-error:') === true)
    }
    await page.goto(FANTAIL_PORTAL_ORIGINS)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('button', { name: 'Add endpoint' }).click()
    await frame.getByRole('dialog').getByLabel('Address').fill('https://acme.example.com/framed')
    await frame.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }).click()
    await frame.getByRole('heading', { level: 1, name: 'https://acme.example.com/framed' }).waitFor()
    await page.close()
    await Promise.all(closings.map((close) => close()))
    // The pages around the frames are of other origins, and the two refusals are reported.
    const others = browser.problems.filter((problem) => !/ asks http|frame-ancestors/.test(problem))
    browser.problems.length = 0
    expect(others).toEqual([])
  })

  /** A customer's page at another origin, with the portal in a frame. */
  async function startShop(port: number, link: string) {
    const portal = `${stack().api.url}${link}`
    const html = `<!doctype html><title>Shop</title><iframe src="${portal}" width="900" height="600"></iframe>`
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html))
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }
  }
})
