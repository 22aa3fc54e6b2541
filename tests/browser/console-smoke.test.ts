/** The main path of the console in a real browser, every address of it, and the main screens in both themes. */
import { waitFor } from '@fantail/test-kit'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { axeProblems, type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'
import { allPaths, mainPaths, subscribeNobody } from './console-paths.ts'

const stack = useStack({ redrive: true })
let browser: ConsoleBrowser
beforeAll(async () => {
  if (whyNoBrowser === undefined) browser = await startBrowser(stack().api.url)
})
afterAll(() => browser?.close())

/**
 * Goes to another address as a link does, so that the browser does not load the whole console for each. Resolves when
 * the screen is drawn with its data.
 */
async function visit(page: Page, path: string): Promise<void> {
  const anyHeading = page.getByRole('heading', { level: 1 })
  // The router follows addresses once its first screen is drawn.
  await anyHeading.waitFor()
  await page.evaluate(`new Promise((resolve) => {
    const stop = __TSR_ROUTER__.subscribe('onResolved', () => resolve(stop()))
    history.pushState(null, '', ${JSON.stringify(`/console${path}`)})
  })`)
  await anyHeading.waitFor()
  await page.locator('main').getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' })
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

test('the first start publishes a message that arrives before one’s eyes', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const page = await browser.open('/')
  await heading(page, 'Overview')
  expect(new URL(page.url()).pathname).toBe('/console/')
  await page.getByRole('button', { name: 'Do it for me' }).click()
  await page.getByText(/It arrived, seen/).waitFor()
  await page.getByText('Hello from Fantail').first().waitFor()
  await page.getByRole('link', { name: 'What became of the message' }).click()
  await page.getByText('delivered').first().waitFor()
  expect(browser.problems).toEqual([])
})

test('a topic is made, subscribed and published to by forms, and a hostile body stays text', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const page = await browser.open('/console/topics')
  await heading(page, 'Topics')
  await page.getByRole('button', { name: 'Create topic' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('orders')
  await dialog.getByRole('button', { name: 'Create topic' }).click()
  await heading(page, 'orders')
  await page.getByRole('button', { name: 'Subscribe an endpoint' }).first().click()
  await dialog.getByLabel('Kind of endpoint').selectOption('sqs')
  await dialog.getByLabel('Name or ARN of the queue').fill('hello-inbox')
  await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click()
  await page.getByText('fine').first().waitFor()
  await visit(page, '/topics/orders?tab=types')
  await page.getByRole('button', { name: 'Add an event type' }).click()
  await dialog.getByLabel('Name', { exact: true }).fill('order.paid')
  await dialog.getByLabel('JSON Schema').fill('{"type":"string","maxLength":40}')
  await dialog.getByLabel('Examples').fill('[true]')
  await dialog.getByRole('button', { name: 'Add an event type' }).click()
  await dialog.getByText('does not fit the schema: must be string').first().waitFor()
  await dialog.getByLabel('Examples').fill('["paid"]')
  await dialog.getByRole('button', { name: 'Add an event type' }).click()
  await page.getByRole('button', { name: 'order.paid' }).click()
  await dialog.getByText('"maxLength": 40').waitFor()
  await visit(page, '/topics/orders?tab=publish')
  await page.getByLabel('Message').fill('<img src=x onerror=alert(1)>')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('Stored.').waitFor()
  expect(browser.problems).toEqual([])
})

test('no page breaks its own security policy', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const { id } = await subscribeNobody(stack())
  const page = await browser.open('/console/nowhere')
  for (const path of allPaths(id)) await visit(page, path)
  expect(browser.problems).toEqual([])
})

test('no main page breaks a rule of accessibility, in light or dark', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const { id } = await subscribeNobody(stack())
  const page = await browser.open('/console/nowhere')
  for (const path of mainPaths(id)) {
    await visit(page, path)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect([colorScheme, path, await axeProblems(page)]).toEqual([colorScheme, path, []])
    }
  }
  expect(browser.problems).toEqual([])
})

test('a first page is drawn with the data that it requested before its code had arrived', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  await subscribeNobody(stack())
  const page = await browser.open('/console/nowhere')
  let asked = 0
  // Only the first request is answered.
  await page.route('**/v1/lanes?**', async (route) => {
    asked += 1
    if (asked === 1) await route.continue()
  })
  await page.route('**/console/assets/main-*.js', async (route) => {
    await waitFor(() => asked > 0)
    await route.continue()
  })
  await page.goto(`${stack().api.url}/console/lanes`)
  await page.locator('main tbody tr').first().waitFor()
  expect(browser.problems).toEqual([])
})

test('keys lead to pages, rows and the palette', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const page = await browser.open('/console/')
  await heading(page, 'Overview')
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await heading(page, 'Topics')
  await page.getByRole('link', { name: 'hello' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await heading(page, 'hello')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('ord')
  await page.getByRole('option', { name: /^orders Topic/ }).waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'orders')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('This list').waitFor()
  expect(browser.problems).toEqual([])
})
