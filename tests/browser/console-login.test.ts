/** The console of a server that requires keys, with the session of a key. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createShell } from '../guides/shell.ts'
import { useStack } from '../harness/services/stack.ts'
import { type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'
import { createKey } from './portal-links.ts'

const stack = useStack({ workers: 0, env: { FANTAIL_AUTH: 'on' } })
let browser: ConsoleBrowser
beforeAll(async () => {
  if (whyNoBrowser !== undefined) return
  browser = await startBrowser(stack().api.url)
})
afterAll(() => browser?.close())

test('a wrong key is refused, a right one opens a session, and logging out ends it', async (context) => {
  if (whyNoBrowser !== undefined) context.skip(whyNoBrowser)
  const page = await browser.open('/console/topics')
  const field = page.getByLabel('Token of an API key')
  await field.fill('ft_wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await field.fill(createKey(stack()))
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Topics' }).waitFor()
  await page.getByRole('button', { name: 'Create topic' }).first().click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('orders')
  await page.getByRole('dialog').getByRole('button', { name: 'Create topic' }).click()
  await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor()
  expect(
    await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, document.cookie])'),
  ).not.toContain('ft_')
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor()
  // The stream of live events uses the session, too.
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.locator('main [role="status"]').getByText('receiving').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in to Fantail' }).waitFor()
  expect(browser.problems).toEqual([])
})

test('the commands of docs/guides/portal.md print what stands there', async () => {
  const { api, place } = stack()
  const addresses = { 'http://127.0.0.1:4100': api.url }
  await createShell({ addresses, env: place.env }).runGuide('docs/guides/portal.md')
})
