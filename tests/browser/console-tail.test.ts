/** The page of live events: the rows that it shows, its state (current or stale), and one connection for all tabs. */
import { fileURLToPath } from 'node:url'
import { freePort, waitFor } from '@fantail/test-kit'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'
import { axeProblems, type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'

const PICTURES = fileURLToPath(new URL('../../docs/console/', import.meta.url))
const isLong = process.env.FANTAIL_BROWSER_LONG === '1' && whyNoBrowser === undefined
/** After a restart the API must have the same address. */
const FANTAIL_PORT = String(await freePort())

describe.runIf(isLong)('live events', () => {
  const stack = useStack({ env: { FANTAIL_PORT } })
  const receiver = useReceiver()
  let browser: ConsoleBrowser
  beforeAll(async () => {
    browser = await startBrowser(stack().api.url)
    await subscribe(stack(), 'orders', { endpoint: `${receiver().url}/orders`, name: 'Warehouse' })
    await subscribe(stack(), 'other', { endpoint: `${receiver().url}/other` })
  })
  afterAll(() => browser?.close())

  const state = (page: Page, text: string | RegExp) =>
    page.locator('main [role="status"]').getByText(text).waitFor()
  /** Rows show the end of an id. */
  const rows = (page: Page, messageId: string) =>
    page.locator('tbody tr', { hasText: `…${messageId.slice(-12)}` })
  const ends = (page: Page, messageId: string) => rows(page, messageId).filter({ hasText: 'delivered' })

  /** Opens another tab, and records the connections of all tabs to the stream. */
  function countStreams(page: Page): string[] {
    const asked: string[] = []
    page.context().on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/v1/events')) asked.push(request.url())
    })
    return asked
  }

  test('events are shown, and filters stand in the address', async () => {
    const page = await browser.open('/console/tail?topic=orders')
    await state(page, 'receiving')
    await page.getByText('Nothing happens yet').waitFor()
    await publish(stack(), 'other', 'x')
    const messageId = await publish(stack(), 'orders', 'the secret text')
    await ends(page, messageId).first().waitFor()
    await rows(page, messageId).filter({ hasText: 'attempt' }).first().waitFor()
    const shown = await page.locator('tbody').textContent()
    expect(shown).toContain('Warehouse')
    expect(shown).not.toMatch(/secret|\/orders|\/other/)
    await page.getByLabel('Type').selectOption('attempt')
    await page.waitForURL(/\?topic=orders&type=attempt$/)
    await state(page, 'receiving')
    const next = await publish(stack(), 'orders', 'y')
    await rows(page, next).first().waitFor()
    expect(await page.locator('tbody tr').count()).toBe(1)
    expect(browser.problems).toEqual([])
  })

  test('a paused page stands still and counts what comes', async () => {
    const page = await browser.open('/console/tail?topic=orders&type=delivered')
    await state(page, 'receiving')
    await page.getByRole('button', { name: 'Pause' }).click()
    const messageId = await publish(stack(), 'orders', 'x')
    await page.getByRole('button', { name: 'Resume, 1 new event' }).waitFor()
    expect(await rows(page, messageId).count()).toBe(0)
    await page.getByRole('button', { name: /^Resume/ }).click()
    await rows(page, messageId).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('seven tabs share one connection, and the next one continues when the first is closed', async () => {
    const first = await browser.open('/console/')
    const asked = countStreams(first)
    const url = `${stack().api.url}/console/tail?topic=orders&type=delivered`
    // A browser opens six connections to a server. With a connection for each tab, the seventh tab would get nothing.
    const tabs = [first, ...(await Promise.all(Array.from({ length: 6 }, () => first.context().newPage())))]
    for (const tab of tabs) {
      await tab.goto(url)
      await state(tab, 'receiving')
    }
    const one = await publish(stack(), 'orders', 'one')
    await Promise.all(tabs.map((tab) => rows(tab, one).waitFor()))
    expect(asked).toHaveLength(1)
    await first.close()
    const two = await publish(stack(), 'orders', 'two')
    const others = tabs.slice(1)
    await Promise.all(others.map((tab) => rows(tab, two).waitFor()))
    expect(asked).toHaveLength(2)
    for (const tab of others)
      expect([await rows(tab, one).count(), await rows(tab, two).count()]).toEqual([1, 1])
    expect(browser.problems).toEqual([])
    await Promise.all(others.map((tab) => tab.close()))
  }, 90_000)

  test('seven tabs with seven filters share one connection, and each shows its own events', async () => {
    const first = await browser.open('/console/')
    const open = new Set<Request>()
    const isStream = (request: Request) => request.method() === 'GET' && request.url().includes('/v1/events')
    first.context().on('request', (request) => isStream(request) && open.add(request))
    const close = (request: Request) => void open.delete(request)
    first.context().on('requestfinished', close)
    first.context().on('requestfailed', close)
    const topics = Array.from({ length: 7 }, (_, n) => `tab-${n + 1}`)
    for (const topic of topics) await subscribe(stack(), topic, { endpoint: `${receiver().url}/${topic}` })
    const tabs: Page[] = []
    for (const topic of topics) {
      const page = await first.context().newPage()
      await page.goto(`${stack().api.url}/console/tail?topic=${topic}&type=delivered`)
      await state(page, 'receiving')
      tabs.push(page)
    }
    expect(open.size).toBe(1)
    const messages: string[] = []
    for (const topic of topics) messages.push(await publish(stack(), topic, 'x'))
    for (const [n, page] of tabs.entries()) {
      await rows(page, messages[n] ?? '').waitFor()
      expect(await page.locator('tbody tr', { hasText: 'delivered' }).count()).toBe(1)
    }
    // The other requests of the seventh tab find a connection, too.
    await tabs[6]?.goto(`${stack().api.url}/console/topics`)
    await tabs[6]?.getByRole('link', { name: 'tab-7' }).waitFor()
    const wrong = await first.context().newPage()
    await wrong.goto(`${stack().api.url}/console/tail?status=6xx`)
    await state(wrong, 'refused')
    expect(open.size).toBe(1)
    await first.context().close()
    expect(browser.problems).toEqual([])
  })

  test('while the API is away the page says since when, keeps its rows, and misses no end', async () => {
    const page = await browser.open('/console/tail?topic=orders')
    await state(page, 'receiving')
    const before = await publish(stack(), 'orders', 'before')
    await ends(page, before).first().waitFor()
    await stack().api.kill()
    await state(page, /stale since \d/)
    expect(await rows(page, before).count()).toBeGreaterThan(0)
    await stack().api.start()
    const after = await publish(stack(), 'orders', 'after')
    await state(page, 'receiving')
    await ends(page, after).first().waitFor()
    await page.getByText('reconnected: ends go on').waitFor()
    expect(await ends(page, before).filter({ hasNotText: 'attempt' }).count()).toBe(1)
    await waitFor(() => page.getByText('live', { exact: true }).isVisible())
    // The killed API has refused connections.
    browser.problems.length = 0
  })

  test('rows keep the rules of accessibility, and a picture for the documents', async () => {
    const deliveryPolicy = retries(3, { minDelayTarget: 600, maxDelayTarget: 600 })
    receiver().respond('/crm', { status: 503 })
    receiver().respond('/old', { status: 404 })
    for (const path of ['erp', 'crm', 'old']) {
      await subscribe(stack(), 'shop', { endpoint: `${receiver().url}/${path}`, deliveryPolicy })
    }
    const [page, dark, narrow] = await Promise.all([
      browser.open('/console/tail', { width: 1360, height: 720 }),
      browser.open('/console/tail', { theme: 'dark' }),
      browser.open('/console/tail', { width: 320 }),
    ])
    const pages = [page, dark, narrow]
    for (const each of pages) await state(each, 'receiving')
    for (let order = 1; order <= 3; order++) await publish(stack(), 'shop', `order ${order}`)
    for (const each of pages) {
      await each.locator('tbody tr', { hasText: 'dead-lettered' }).nth(2).waitFor()
      expect(await axeProblems(each)).toEqual([])
      expect(await each.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
    }
    await page.screenshot({ path: `${PICTURES}live.png` })
    expect(browser.problems).toEqual([])
  })

  test('a filter that the API refuses is shown with its code', async () => {
    const page = await browser.open('/console/tail?status=6xx')
    await state(page, 'refused')
    await page.getByRole('alert').getByText('validation_failed').waitFor()
    await page.getByLabel('Status').fill('5xx')
    await page.getByRole('button', { name: 'Show' }).click()
    await state(page, 'receiving')
  })
})
